package advice

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/model"
)

const (
	// fewPhotos is the number of photos below which a class needs more.
	fewPhotos = 3
	// goodEnough is the share of checked photos predicted right from which more labels
	// change little.
	goodEnough = 0.97
	// SureEnough is the probability from which predictions may be accepted in bulk.
	SureEnough = 0.95
)

// Teaching holds the figures of a session of teaching.
type Teaching struct {
	// Read counts the photos that have been read.
	Read int
	// Problem says why the last fit failed; Fitted reports that photos are scored.
	Problem error
	Fitted  bool
	// Known counts the examples of each class of the model.
	Known []model.ClassInfo
	// Open counts the photos without a label: of these, Unknown are like no class and
	// Sure have a probability of SureEnough or more. Doubtful counts labels that are
	// probably wrong.
	// Unchecked counts labels that came from a folder or were accepted with others, so that
	// nobody has looked at each.
	Open, Unknown, Sure, Doubtful, Unchecked int
	// Recent is the share of the last checked photos that were predicted right, NaN if
	// they are too few.
	Recent float64
}

// A Step says what to do next.
type Step struct {
	Do          string // wait, start, check, unknown, suspicious, more, accept or stop
	Class, Text string
}

// Next returns what to do next.
func (t Teaching) Next() Step {
	switch {
	case t.Read == 0:
		return Step{Do: "wait", Text: "The photos are being read."}
	case t.Problem != nil:
		return Step{Do: "wait", Text: "The model could not be fitted: " + t.Problem.Error()}
	case !t.Fitted:
		return Step{Do: "start", Text: "Name a photo of each of two classes or more."}
	}
	for _, c := range t.Known {
		if c.Samples < fewPhotos {
			return Step{"more", c.Name,
				fmt.Sprintf("Name a few more photos of %s: the model knows %d.", c.Name, c.Samples)}
		}
	}
	switch {
	case t.Unknown > 0 && 10*t.Unknown > t.Open:
		return Step{Do: "unknown", Text: fmt.Sprintf("%d photos are like no class: name a group of them.", t.Unknown)}
	case t.Doubtful > 0 && t.Open == 0:
		return Step{Do: "suspicious",
			Text: fmt.Sprintf("About %d labels are wrong: look at the first ones.", t.Doubtful)}
	case t.Open == 0 && t.Unchecked > 0:
		return Step{Do: "suspicious", Text: fmt.Sprintf("Every photo has a label, but nobody has looked at %d of them "+
			"one by one: see which may be wrong before you save.", t.Unchecked)}
	case t.Open == 0:
		return Step{Do: "stop", Text: "Every photo has a label: save the model."}
	case t.Recent >= goodEnough && t.Sure > 0:
		return Step{Do: "accept", Text: fmt.Sprintf("The last checked photos were predicted right: "+
			"accept the %d photos above %.0f %%.", t.Sure, 100*SureEnough)}
	case t.Recent >= goodEnough:
		return Step{Do: "stop", Text: "The last checked photos were predicted right: more labels change little."}
	}
	return Step{Do: "check", Text: "Check the least certain photos: they teach the model most."}
}
