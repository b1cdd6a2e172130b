package teach

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// longestName is the most bytes of the name of a class in a journal: that of a folder, however deep,
// with every byte escaped.
const longestName = 1 << 16

// check returns an error for a line that no program wrote in this place.
func (j *journal) check(l Line) error {
	known := l.Of >= 1 && l.Of <= len(j.lines)
	switch {
	case l.Seq != len(j.lines)+1:
		return fmt.Errorf("its number is %d", l.Seq)
	case (l.Do == Start) != (l.Seq == 1):
		return fmt.Errorf("%q is only the first line", Start)
	case (l.Do == Undo || l.Do == Redo) && !(known && j.lines[l.Of-1].decides()):
		return fmt.Errorf("it refers to line %d, which is no decision", l.Of)
	case (l.Do == Saved || l.Do == Back) && !known:
		return fmt.Errorf("it refers to line %d", l.Of)
	}
	if err := l.wellFormed(); err != nil {
		return err
	}
	return j.checkValues(l)
}

// checkValues returns an error if an embedding of a line has another length than those before it, or
// values that are no numbers.
func (j *journal) checkValues(l Line) error {
	for id, b := range l.Embeddings {
		row := valuesOf(b)
		if j.dim != 0 && len(row) != j.dim {
			return fmt.Errorf("the embedding of %s has %d values, and that in line %d has %d", id, len(row), j.dimLine,
				j.dim)
		}
		if !dense.Finite32(row) {
			return fmt.Errorf("the embedding of %s has values that are no numbers", id)
		}
	}
	return nil
}

// checkDim returns an error unless the embeddings have so many values; 0 is not known.
func (j *journal) checkDim(dim int) error {
	if dim == 0 || j.dim == 0 || j.dim == dim {
		return nil
	}
	return j.named(damaged(j.dimLine,
		fmt.Errorf("its embeddings have %d values, and those of the model %d", j.dim, dim)))
}

// damaged says what to do about a line that cannot be followed.
func damaged(line int, err error) error {
	return fmt.Errorf("line %d is damaged, restore the file from a copy, or remove this line and all after it, with "+
		"what they decided: %w", line, err)
}

// takes returns the fields that lines of a kind may have besides their number, time and kind, nil for an
// unknown kind.
func (d Do) takes() []string {
	switch d {
	case Start:
		return []string{"model", "to", "was"}
	case Label:
		return []string{"images", "class", "was", "p"}
	case Learn:
		return []string{"images", "class"}
	case Unlabel, Ignore, Skip, Refit, Save:
		return []string{"images"}
	case Several:
		return []string{"images", "classes"}
	case Rename, Merge:
		return []string{"class", "to"}
	case Accept:
		return []string{"images", "class", "classes"}
	case SpotCheck:
		return []string{"images", "class", "classes", "p"}
	case Import:
		return []string{"images", "classes", "shows"}
	case Back, Undo, Redo:
		return []string{"of"}
	case Saved:
		return []string{"of", "model", "to"}
	}
	return nil
}

// has returns the fields that a line has besides its number, time and kind.
func (l Line) has() (fields []string) {
	for name, there := range map[string]bool{
		"images": len(l.Images) > 0, "class": l.Class != "", "to": l.To != "", "classes": len(l.Classes) > 0,
		"labels": len(l.Labels) > 0, "shows": len(l.Shows) > 0, "of": l.Of != 0, "was": l.Was != "", "p": l.P != 0,
		"model": l.Model != "",
	} {
		if there {
			fields = append(fields, name)
		}
	}
	return fields
}

// wellFormed returns an error for a line that no program wrote, whatever lines are before it.
func (l Line) wellFormed() error {
	if l.Do.takes() == nil {
		return fmt.Errorf("%q is unknown: a newer program wrote it", l.Do)
	}
	if more := without(l.has(), l.Do.takes()); len(more) > 0 {
		return fmt.Errorf("%q takes no %s", l.Do, slices.Min(more))
	}
	if l.severalClasses() && len(l.Classes) != len(l.Images) {
		return fmt.Errorf("it has %d classes of %d photos", len(l.Classes), len(l.Images))
	}
	if l.P < 0 || l.P > 1 {
		return fmt.Errorf("%v is no probability", l.P)
	}
	if err := l.checkNames(); err != nil {
		return err
	}
	return l.checkEmbeddings()
}

// checkNames returns an error if a line lacks the name of a class, or has one that no class has.
func (l Line) checkNames() error {
	var needed []string
	switch l.Do {
	case Label, Learn:
		needed = []string{l.Class}
	case Rename, Merge:
		needed = []string{l.Class, l.To}
	case Accept, SpotCheck, Several:
		needed = l.Classes
	}
	several := [][]string{}
	if l.Do == Several {
		several = append(several, l.Classes)
	}
	for id, labels := range l.Shows {
		if !slices.Contains(l.Images, id) {
			return fmt.Errorf("it says what photo %s shows, which it does not name", id)
		}
		several, needed = append(several, labels), slices.Concat(needed, labels)
	}
	for _, labels := range several {
		if n := len(labels); n < leastLabels || n > mostLabels {
			return fmt.Errorf("a photo shows from %d to %d things, not %d", leastLabels, mostLabels, n)
		}
	}
	if slices.Contains(needed, "") {
		return errors.New("the name of a class is empty")
	}
	for _, name := range slices.Concat(needed, l.Classes, []string{l.Class, l.To, l.Was}) {
		if len(name) > longestName {
			return fmt.Errorf("the name of a class has %d bytes; the most is %d", len(name), longestName)
		}
	}
	return nil
}

// checkEmbeddings returns an error if a line has an embedding of what it does not name, or one that is
// none.
func (l Line) checkEmbeddings() error {
	if len(l.Embeddings) == 0 {
		return nil
	}
	named := make(map[ID]bool, len(l.Images))
	for _, id := range l.Images {
		named[id] = true
	}
	for id, b := range l.Embeddings {
		switch {
		case !named[id]:
			return fmt.Errorf("it has an embedding of photo %s, which it does not name", id)
		case len(b) == 0 || len(b)%4 != 0:
			return fmt.Errorf("the embedding of %s has %d bytes", id, len(b))
		}
	}
	return nil
}

// valuesOf reads little-endian float32.
func valuesOf(b []byte) []float32 {
	row := make([]float32, len(b)/4)
	for i := range row {
		row[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return row
}
