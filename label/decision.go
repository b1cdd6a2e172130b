package label

import (
	"crypto/sha256"
	"math"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// By says who gave a photo its label; "" is the model.
type By string

// Who labels, besides the model.
const (
	Person By = "person" // somebody who looked at it
	Bulk   By = "bulk"   // an accepted prediction
	List   By = "list"   // a folder or list that was learned
	Later  By = "later"  // somebody put it off: it has no label yet
	// Detector is what found the box of a person or vehicle, which needs no other label and is not
	// learned.
	Detector By = "detector"
)

// While a model is taught, more is told apart: which results call List, Later and Person.
const (
	Folder  By = "folder"  // the name of its folder, or a list
	Skipped By = "skipped" // for later
	Ignored By = "ignored" // of no class
	Mixed   By = "several" // of several classes
)

// Written returns what results say.
func (b By) Written() By {
	switch b {
	case Folder:
		return List
	case Skipped:
		return Later
	case Ignored, Mixed:
		return Person
	}
	return b
}

// Who returns whom an account counts.
func (b By) Who() account.Who {
	switch b {
	case Bulk:
		return account.Bulk
	case List, Folder:
		return account.List
	case Detector:
		return account.Detector
	case Ignored:
		return account.Unusable
	case Mixed:
		return account.Several
	case Later, Skipped:
		return account.Later
	}
	return account.Person
}

// Seen reports whether somebody looked at the photo.
func (b By) Seen() bool { return b == Person || b == Later }

// Aside reports whether a photo was set aside, so that it has no class.
func (b By) Aside() bool { return b == Ignored || b == Skipped || b == Mixed }

// Teaches reports whether a label is learned: those accepted in bulk are of the model itself.
func (b By) Teaches() bool { return b == Person || b == Folder }

// Certain reports whether a label is not doubted.
func (b By) Certain() bool { return b == Person || b == Detector }

// A Decision is what people decided about a photo.
type Decision struct {
	// Class is "" for a photo that was set aside: it is of no class.
	Class string
	// Labels are those of a photo that shows several things and has no Class.
	Labels []string
	By     By
	// Again reports that a Person decided about a photo that had a class already.
	Again bool
	// CopyOf is the content of the photo that is kept instead, if it was set aside as a copy; zero if it was not.
	CopyOf [sha256.Size]byte
	// At is when a person decided, zero if that is not known.
	At time.Time
}

// Decisions finds the decision about a file by its content, so that copies share it, and
// renamed or moved files keep it.
type Decisions func(content [sha256.Size]byte) (Decision, bool)

// Of returns the decision about an item, by its file or, as a model that learned features
// knows no files, by its embedding.
func (d Decisions) Of(item embedding.Item) (Decision, bool) {
	if d == nil || item.Err != nil {
		return Decision{}, false
	}
	if found, ok := d(item.Hash); ok {
		return found, ok
	}
	return d(embedding.HashRow(item.Vector))
}

// find returns the decision about an item, nil for none.
func (d Decisions) find(item embedding.Item) *Decision {
	if found, ok := d.Of(item); ok {
		return &found
	}
	return nil
}

// Given reports whether people gave the photo at least one class.
func (d Decision) Given() bool { return d.Class != "" || len(d.Labels) > 0 }

// decide makes a row one of the decided class, whatever the head predicts. Probability and
// margin are what the head says of that class.
func (s *Scored) decide(d Decision, classes []string) {
	s.By, s.At, s.Labels, s.CopyOf, s.Rejected = d.By, d.At, d.Labels, d.CopyOf, false
	p := &s.Prediction
	p.Label, p.Probability, p.Margin = d.Class, 0, -p.Probability
	at := slices.Index(classes, d.Class)
	if at < 0 {
		return
	}
	other := math.Inf(-1)
	for j, v := range s.LogProb {
		if j != at {
			other = max(other, v)
		}
	}
	p.Probability = math.Exp(s.LogProb[at])
	p.Margin = p.Probability - math.Exp(other)
}

// detected makes a row one of the category that a detector gave its box.
func (s *Scored) detected(b *dataset.Box) {
	s.By, s.Rejected, s.New = Detector, false, nil
	s.Prediction = classifier.Prediction{
		Label: b.Category, Probability: b.Confidence, Margin: b.Confidence, Novelty: s.Prediction.Novelty,
		TopK: []classifier.Ranked{{Label: b.Category, Probability: b.Confidence}},
	}
}

// Names returns the classes that a row gives its photo: none if it is rejected or was set aside,
// several if a person said so.
func (s Scored) Names() []string {
	switch {
	case s.Rejected:
		return nil
	case s.SetAside():
		return s.Labels
	}
	return []string{s.Prediction.Label}
}

// SetAside reports that people decided that the photo is of no class, or of several (Labels), or
// is for later.
func (s Scored) SetAside() bool { return s.By != "" && s.Prediction.Label == "" }

// Who returns whom an account counts for a row that the head did not label.
func (s Scored) Who() account.Who {
	switch {
	case s.OfNoClass():
		return account.Unusable
	case len(s.Labels) > 0:
		return account.Several
	}
	return s.By.Who()
}

// OfNoClass reports that people decided that the photo is of no class.
func (s Scored) OfNoClass() bool { return s.SetAside() && len(s.Labels) == 0 && s.By != Later }
