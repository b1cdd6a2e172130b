package teach

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/seed-90d10d51/pipeline/label"
)

// An ID names a photo: the SHA-256 of its file.
type ID [32]byte

// ParseID reads an ID from 64 hexadecimal digits.
func ParseID(text string) (id ID, err error) { return id, id.UnmarshalText([]byte(text)) }

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText implements encoding.TextMarshaler.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) != 2*len(id) {
		return fmt.Errorf("an id has %d hexadecimal digits, not %d", 2*len(id), len(text))
	}
	_, err := hex.Decode(id[:], text)
	return err
}

// Do says what a line of the journal does.
type Do string

// The kinds of lines. Those from Label to Back are decisions.
const (
	Start   Do = "start"   // the first line: the SHA-256 of the base model is Model, or To; of MODEL before it Was
	Label   Do = "label"   // Images are of Class
	Unlabel Do = "unlabel" // Images have no label
	Ignore  Do = "ignore"  // Images are of no class, now and later
	Skip    Do = "skip"    // Images are for later
	Several Do = "several" // Images each show all of Classes
	Rename  Do = "rename"  // Class is called To
	Merge   Do = "merge"   // Class is part of To
	Accept  Do = "accept"  // Images are of Classes, as predicted
	// Images, predicted as Classes with at least P, were drawn to be decided one by one
	SpotCheck Do = "spot-check"
	Learn     Do = "learn"  // as Label, for photos that need not lie in the folder
	Import    Do = "import" // Images are of Classes, as a folder or list says
	Back      Do = "back"   // everything is as after the line Of
	Undo      Do = "undo"   // the line Of does not count
	Redo      Do = "redo"   // the line Of counts again
	Refit     Do = "refit"  // the model is fitted to all lines before
	Save      Do = "save"   // as Refit, for the file of the model
	Saved     Do = "saved"  // the line Of wrote a file with SHA-256 Model, or is about to write one with To
)

// A Line is one line of a journal.
type Line struct {
	Seq  int       `json:"seq"` // 1, 2, …
	Time time.Time `json:"time"`
	// Decision is what was decided, with its Labels in Classes. Other lines use its fields, too.
	Decision
	// Classes are those of Images in Accept, Import and SpotCheck, one for each; in Several
	// what each of them shows.
	Classes []string `json:"classes,omitempty"`
	// Shows is what photos of an Import show that have no class there, because they show
	// several things; others without one are of no class.
	Shows map[ID][]string `json:"shows,omitempty"`
	// From is the project that an Import merged, "" for a folder or list.
	From string `json:"from,omitempty"`
	// Was is the class that was predicted for the only photo of a Label, with
	// probability P; "" for none. P is the least probability of a SpotCheck.
	Was   string  `json:"was,omitempty"`
	P     float64 `json:"p,omitempty"`
	Model string  `json:"model,omitempty"`
	// Embeddings are those of Images that no earlier line has, as little-endian
	// float32.
	Embeddings map[ID][]byte `json:"embeddings,omitempty"`
}

// decides reports whether a line is a decision, which can be undone.
func (l Line) decides() bool {
	switch l.Do {
	case Label, Unlabel, Ignore, Skip, Several, Rename, Merge, Accept, Learn, Import, Back:
		return true
	}
	return false
}

// severalClasses reports whether a line has a class for each of its photos.
func (l Line) severalClasses() bool { return l.Do == Accept || l.Do == Import || l.Do == SpotCheck }

// changes reports whether a line changes labels or classes.
func (l Line) changes() bool { return l.decides() || l.Do == Undo || l.Do == Redo }

// importedBy returns who labelled photo i of an Import.
func (l Line) importedBy(i int) label.By {
	switch {
	case l.Classes[i] != "":
		return label.Folder
	case len(l.Shows[l.Images[i]]) > 0:
		return label.Mixed
	}
	return label.Ignored
}
