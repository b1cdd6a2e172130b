package pipeline

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
)

// need is what a request needs of its input.
type need int

const (
	anyImages need = iota
	classes        // of the images, too
	toLearn        // classes, and of a list that is divided the part train
	toTest         // classes, and of such a list the other parts
)

// part keeps the images of a list that a need is for, where the list says in a column split
// which part each is in. A list of one part is all of it.
func (in inputs) part(l *dataset.Listing, need need) {
	if need != toLearn && need != toTest {
		return
	}
	divided := func(s dataset.Sample) bool { return s.Split != "" }
	wanted := func(s dataset.Sample) bool {
		train := strings.EqualFold(s.Split, "train")
		return need == toLearn && (train || s.Split == "") || need == toTest && divided(s) && !train
	}
	all := len(l.Samples)
	if !slices.ContainsFunc(l.Samples, divided) || !slices.ContainsFunc(l.Samples, wanted) {
		return
	}
	l.Samples = slices.DeleteFunc(l.Samples, func(s dataset.Sample) bool { return !wanted(s) })
	if left := all - len(l.Samples); left > 0 && in.first(in.List) { // a list may be read twice
		in.log.Info("the list is divided by its column split: train and learn take the part train, eval the "+
			"others", "taken", len(l.Samples), "left", left)
	}
}

// notePredicted says how many labels of a list do not count.
func (in inputs) notePredicted(predicted int) {
	if predicted > 0 {
		in.log.Info("labels of the list that nobody decided do not count, as the model gave them: correct them "+
			"in the column label, or take all with predictions=true", "labels", predicted)
	}
}

// noteUnlabelled says what embedding.Labelled left out, except what notePredicted has already said, and returns how
// many that was.
func (in inputs) noteUnlabelled(from input, rows *embedding.Labelled, skipped map[string]int) (predicted int) {
	if from.images != nil {
		found, _ := from.images.Outcome()
		predicted = found.Predicted
	}
	in.noteLeftOut(max(0, rows.Dropped-rows.Several-predicted), rows.Several, skipped)
	return predicted
}

// noteLeftOut says how many images have no class, how many show several things, and how many
// are of one to drop. That may be misspelt.
func (in inputs) noteLeftOut(unlabelled, several int, skipped map[string]int) {
	log := in.log
	switch drop := in.Scan.DropLabel; {
	case len(drop) == 0:
	case skipped["dropped"] == 0:
		log.Warn("no image has a class that is to be left out", "drop_label", strings.Join(drop, ", "))
	default:
		log.Info("images of the classes to drop are left out", "images", skipped["dropped"])
	}
	if several > 0 {
		log.Info("images that show several things are left out: they are of no class", "images", several)
	}
	if unlabelled > 0 {
		log.Warn("images without a class are left out; put each into a folder named after its class, or give it a "+
			"label",
			"images", unlabelled)
	}
}

// problems writes the inputs that failed into a file, or if it has no name into the log, and returns a
// PartialError. If none failed, it removes the file of an earlier run.
func (r *run) problems(problems []dataset.Problem, file string) error {
	switch {
	case file == "":
		for _, p := range problems {
			r.log.Warn("image left out", "path", p.Path, "error", p.Err)
		}
		return partial(len(problems), "the log")
	case len(problems) == 0:
		if err := atomicfile.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := label.WriteProblems(file, problems); err != nil {
		return err
	}
	return partial(len(problems), file)
}
