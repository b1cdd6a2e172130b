package teach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/model"
)

// The journal holds every embedding that a model of it may need, since photos go away: a line brings
// those that it needs and nobody stored. Journals of before 0.2.1 lack those of photos that were set
// aside; the next fit brings them, from wherever they are at hand.

// needs reports whether a model of a state with a line may need the embedding of photo i of it: to
// learn it, or to unlearn it if the base model does not keep its own.
func (s *state) needs(l Line, i int) bool {
	switch {
	case l.Do == Unlabel:
		return false
	case l.Do == Label, l.Do == Learn, l.Do == Import && l.Classes[i] != "":
		return true
	}
	return s.unkept(l.Images[i])
}

// unkept reports whether the base model learned a photo and may not keep its embedding.
func (s *state) unkept(id ID) bool { return !s.complete && len(s.learned[id]) > 0 }

// remember adds to a line the embeddings that it needs and that are not stored: those that are given,
// of photos that are or were in the folder, or from elsewhere. A *Refusal says that there is none.
func (s *Session) remember(l *Line, given map[ID][]float32) error {
	var rest []ID
	for i, id := range l.Images {
		switch x := given[id]; {
		case s.stored(id) || !s.state.needs(*l, i):
		case x == nil:
			rest = append(rest, id)
		default:
			l.embed(id, x)
		}
	}
	found, err := s.atHand(rest)
	if err != nil {
		return err
	}
	for _, id := range rest {
		if found[id] == nil {
			return refuse(Conflict, "the model learned photo %s and does not keep its embedding: "+
				"put the photo into the folder", id)
		}
		l.embed(id, found[id])
	}
	return nil
}

// atHand returns the embeddings of photos that are or were in the folder, or that are elsewhere.
func (s *Session) atHand(ids []ID) (map[ID][]float32, error) {
	out, rest := map[ID][]float32{}, []ID(nil)
	for _, id := range ids {
		at, ok := s.index[id]
		if !ok {
			rest = append(rest, id)
			continue
		}
		x, err := s.x.read(at, at+1, nil)
		if err != nil {
			return nil, err
		}
		out[id] = x.Data
	}
	if len(rest) == 0 || s.options.Elsewhere == nil {
		return out, nil
	}
	for id, x := range s.options.Elsewhere(s.base.model.Provenance, rest) {
		if len(x) == s.options.Dim && dense.Finite32(x) {
			out[id] = x
		}
	}
	return out, nil
}

// supplied returns a line that fits the model, with the embeddings that the fit needs, nobody stored,
// and are at hand.
func (s *Session) supplied(l Line) Line {
	lacking := s.lacking(s.state)
	if !s.state.complete {
		for _, twice := range s.state.twice() {
			if id := ID(twice.Content); !s.stored(id) && !slices.Contains(lacking, id) {
				lacking = append(lacking, id)
			}
		}
	}
	found, err := s.atHand(lacking)
	if err != nil {
		return l // the fit says what it lacks
	}
	for _, id := range lacking {
		if x := found[id]; x != nil {
			l.Images = append(l.Images, id)
			l.embed(id, x)
		}
	}
	return l
}

// supplies reports whether a fit would bring embeddings that were lacking.
func (s *Session) supplies() bool { return len(s.supplied(Line{}).Images) > 0 }

// lacking returns the photos whose embeddings a model of a state needs and nobody stored.
func (r *record) lacking(st *state) (ids []ID) {
	want := st.examples()
	differ := want
	if !r.base.complete {
		differ = st.difference(want)
	}
	seen := map[ID]bool{}
	for _, sample := range differ {
		if id := ID(sample.Content); !seen[id] && !r.stored(id) {
			seen[id], ids = true, append(ids, id)
		}
	}
	return ids
}

// difference returns what the base model has to learn and unlearn to have learned the samples that
// are wanted.
func (s *state) difference(want []model.SampleID) (out []model.SampleID) {
	wanted, has := setOf(want), make(map[model.SampleID]bool, len(s.samples))
	for _, sample := range s.samples {
		sample.Class = s.name(sample.Class)
		if has[sample] = true; !wanted[sample] {
			out = append(out, sample)
		}
	}
	for _, sample := range want {
		if !has[sample] {
			out = append(out, sample)
		}
	}
	return out
}

// twice returns the samples, with the classes that the base model has them as, that are of the same
// class now as an earlier one of the same content.
func (s *state) twice() (out []model.SampleID) {
	for id, classes := range s.learned {
		for i, class := range classes {
			if slices.ContainsFunc(classes[:i], func(other string) bool { return s.name(other) == s.name(class) }) {
				out = append(out, model.SampleID{Content: model.Hash(id), Class: class})
			}
		}
	}
	slices.SortFunc(out, func(a, b model.SampleID) int {
		return cmp.Or(slices.Compare(a.Content[:], b.Content[:]), strings.Compare(a.Class, b.Class))
	})
	return out
}

// A lackingError reports photos without which no model can follow from the lines.
type lackingError struct {
	ids  []ID
	line Line // that is about the first of them
}

func (e *lackingError) Error() string {
	others := ""
	if n := len(e.ids) - 1; n > 0 {
		others = fmt.Sprintf(", nor of %d others", n)
	}
	return fmt.Sprintf("line %d of the history (%s) needs photo %s, and neither the journal nor the folder has its "+
		"embedding%s: put the photo back into the folder and open that, or undo the line",
		e.line.Seq, Describe(e.line), e.ids[0], others)
}

// Unwrap makes it a *Refusal, of which somebody is told.
func (e *lackingError) Unwrap() error { return refuse(Conflict, "%s", e.Error()) }

// checkLacking returns a *lackingError if a model of a state needs what nobody stored.
func (r *record) checkLacking(st *state) error {
	ids := r.lacking(st)
	if len(ids) == 0 {
		return nil
	}
	e := &lackingError{ids: ids}
	if m, ok := st.marks[ids[0]]; ok {
		e.line = st.lines[m.seq-1]
	}
	return e
}
