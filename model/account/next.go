package account

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/model"
)

const (
	// fewPhotos is the number of photos below which a class needs more.
	fewPhotos = 3
	// goodEnough is the share of right labels from which more of them change little. What is expected is
	// less than what is true, by a few points.
	goodEnough = 0.95
	// SureEnough is the probability from which predictions may be accepted in bulk.
	SureEnough = 0.95
)

// A Situation is what the next step depends on besides the account.
type Situation struct {
	// Read counts the photos that have been read.
	Read int
	// Problem says why the model could not be made.
	Problem error
	// Named counts the classes that people have named so far, of which there may be no model yet.
	Named int
	// Kind is photos that look like one thing which nobody has named, nil if there are none.
	Kind *Kind
	// Known counts the examples of each class of the model, −1 if that is not known; nil without a model.
	Known []model.ClassInfo
}

// A Kind is photos that resemble each other more than the class that the model takes them for.
type Kind struct {
	Photos int
	Called string // "" if most of them look unknown
}

// String says what to do with them.
func (k Kind) String() string {
	calls := "like none of the classes"
	if k.Called != "" {
		calls = "the model calls them " + k.Called
	}
	return fmt.Sprintf("%d photos look like one thing that has no name yet (%s): see, and name them.", k.Photos, calls)
}

// A Step says what to do next.
type Step struct {
	Do    string `json:"do"` // wait, start, check, unknown, suspicious, more, accept or stop
	Class string `json:"class"`
	Text  string `json:"text"`
}

// next returns what pays most now. Sure is the number of labels by the model above SureEnough.
func (a Account) next(t Situation, sure int) Step {
	switch {
	case t.Read == 0:
		return Step{Do: "wait", Text: "The photos are being read."}
	case t.Problem != nil:
		return Step{Do: "wait", Text: "The model could not be made: " + t.Problem.Error()}
	case len(t.Known) == 0 && t.Named > 1:
		return Step{Do: "wait", Text: fmt.Sprintf("The model is being made from the %d classes named so far.", t.Named)}
	case len(t.Known) == 0 && t.Named == 1:
		return Step{Do: "start", Text: "Name a photo of another class: a model needs two."}
	case len(t.Known) == 0:
		return Step{Do: "start", Text: "Name a photo of each of two classes or more."}
	}
	for _, c := range t.Known {
		if c.Samples >= 0 && c.Samples < fewPhotos {
			return Step{"more", c.Name,
				fmt.Sprintf("Name a few more photos of %s: the model knows %d.", c.Name, c.Samples)}
		}
	}
	doubtful, unchecked := 0, a.Decided.Bulk+a.Decided.List
	if a.Wrong != nil {
		doubtful = int(math.Round(a.Wrong.Expected))
	}
	good := a.Expected != nil && a.Expected.Accuracy != nil && *a.Expected.Accuracy >= goodEnough
	switch {
	case t.Kind != nil:
		return Step{Do: "unknown", Text: t.Kind.String()}
	case a.Unknown > 0 && 10*a.Unknown > a.Model:
		return Step{Do: "unknown", Text: fmt.Sprintf("%d photos are like no class: name a group of them.", a.Unknown)}
	case doubtful > 0 && (a.Model == 0 || a.Wrong.Low >= 1):
		return Step{Do: "suspicious",
			Text: fmt.Sprintf("About %d labels are wrong: look at the first ones.", doubtful)}
	case a.Model == 0 && unchecked > 0:
		return Step{Do: "suspicious", Text: fmt.Sprintf("Every photo has a label, but nobody has looked at %d of them "+
			"one by one: see which may be wrong before you save.", unchecked)}
	case a.Model == 0:
		return Step{Do: "stop", Text: "Every photo has a label: save the model."}
	case good && sure > 0:
		return Step{Do: "accept", Text: fmt.Sprintf("Most labels are right: accept the %d photos above %.0f %%, "+
			"after a look at twenty drawn at random.", sure, 100*SureEnough)}
	case good:
		return Step{Do: "stop", Text: "Most labels are right: more decisions change little."}
	}
	return Step{Do: "check", Text: "Check the least certain photos: they teach the model most."}
}
