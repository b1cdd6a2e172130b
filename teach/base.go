package teach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/model"
)

// leastClasses is the number of classes from which there is a model.
const leastClasses = 2

// A base is the model that a journal starts from.
type base struct {
	file    string
	open    *os.File // file, and its size
	size    int64
	backend linalg.Backend
	model   *model.Model
	*origin
	// rows has the embeddings of the samples if complete.
	rows map[ID][]float32
}

// openBase opens the file of a base model, which it reads unless the model is given.
func openBase(file string, backend linalg.Backend, m *model.Model) (*base, error) {
	b := &base{file: file, backend: backend, model: m}
	err := b.hold()
	if err == nil && m == nil {
		b.model, err = model.Load(file)
	}
	if err == nil {
		err = b.intact()
	}
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	b.model.Predictor.UseBackend(backend)
	b.origin = originOf(b.model)
	b.rows, b.complete = keptOf(b.model)
	return b, nil
}

// keptOf returns the embeddings that a model keeps if it keeps all of them.
func keptOf(m *model.Model) (rows map[ID][]float32, complete bool) {
	examples, complete := m.Examples()
	rows = make(map[ID][]float32, len(examples.Content))
	for i, h := range examples.Content {
		rows[ID(h)] = dense.Row32(examples.X, i)
	}
	return rows, complete
}

// copy returns a model of its own.
func (b *base) copy() (*model.Model, error) {
	m, err := b.model.Clone()
	if err == nil {
		m.Predictor.UseBackend(b.backend)
	}
	return m, err
}

// samplesOf returns what a model has learned, in that order.
func samplesOf(m *model.Model) (samples []model.SampleID) {
	for _, s := range m.Sessions {
		samples = append(samples, s.Samples...)
	}
	return samples
}

// setOf returns samples without their order.
func setOf(samples []model.SampleID) map[model.SampleID]bool {
	set := make(map[model.SampleID]bool, len(samples))
	for _, s := range samples {
		set[s] = true
	}
	return set
}

// enough reports whether samples are of as many classes as a model needs.
func enough(samples []model.SampleID) bool {
	classes := map[string]bool{}
	for _, s := range samples {
		classes[s.Class] = true
	}
	return len(classes) >= leastClasses
}

// named reports whether the base model knows enough classes by their names alone.
func (b *base) named() bool {
	return b.model != nil && b.model.SampleCount() == 0 && len(b.model.Classes()) >= leastClasses
}

// fits reports whether there is a model of samples.
func (b *base) fits(samples []model.SampleID) bool { return enough(samples) || b.named() }

// batch returns samples with their embeddings.
func batch(samples []model.SampleID, d int, row func(ID) []float32) (model.Batch, error) {
	out := model.Batch{X: blas32.General{Cols: d, Stride: d}}
	for _, s := range samples {
		x := row(ID(s.Content))
		if x == nil {
			return out, fmt.Errorf("the embedding of photo %x is missing", s.Content)
		}
		if out.X.Cols == 0 {
			out.X.Cols, out.X.Stride = len(x), len(x)
		}
		if len(x) != out.X.Cols {
			return out, fmt.Errorf("the embedding of photo %x has %d values, not %d: it is of another backbone",
				s.Content, len(x), out.X.Cols)
		}
		out.X.Rows, out.X.Data = out.X.Rows+1, append(out.X.Data, x...)
		out.Labels, out.Content = append(out.Labels, s.Class), append(out.Content, s.Content)
	}
	return out, nil
}

// fit returns a model of exactly the examples of a state. If these have fewer than two
// classes, it is nil, or the base model if that knows classes by their names. It depends on
// nothing else.
func (b *base) fit(
	ctx context.Context, st *state, want []model.SampleID, row func(ID) []float32,
) (*model.Model, error) {
	if !enough(want) {
		if b.named() {
			return b.copy()
		}
		return nil, nil
	}
	if slices.Equal(want, b.samples) {
		return b.copy()
	}
	if b.complete {
		all, err := batch(want, b.model.Dim(), row)
		if err != nil {
			return nil, err
		}
		m, _, err := b.model.Retrained(ctx, all)
		return m, err
	}
	return b.extend(ctx, st, want, row)
}

// extend lets the base model rename, forget and learn what changed.
func (b *base) extend(
	ctx context.Context, st *state, want []model.SampleID, row func(ID) []float32,
) (*model.Model, error) {
	m, err := b.copy()
	if err != nil {
		return nil, err
	}
	if err := b.unlearnTwice(ctx, m, st, row); err != nil {
		return nil, err
	}
	if err := rename(m, st.name); err != nil {
		return nil, err
	}
	gone, learned, err := difference(samplesOf(m), want, m.Dim(), row)
	if err != nil {
		return nil, err
	}
	if len(gone.Labels) > 0 {
		if _, err := m.ForgetSamples(ctx, gone, model.Forgetting{Approximate: true}); err != nil {
			return nil, err
		}
	}
	if len(learned.Labels) > 0 {
		_, err = m.Learn(ctx, learned)
	}
	return m, err
}

// unlearnTwice makes a model forget photos, if their embeddings are stored, that it learned as two
// classes which are one now: as one of them.
func (b *base) unlearnTwice(ctx context.Context, m *model.Model, st *state, row func(ID) []float32) error {
	twice := slices.DeleteFunc(st.twice(), func(s model.SampleID) bool { return row(ID(s.Content)) == nil })
	if len(twice) == 0 {
		return nil
	}
	gone, err := batch(twice, m.Dim(), row)
	if err == nil {
		_, err = m.ForgetSamples(ctx, gone, model.Forgetting{Approximate: true})
	}
	return err
}

// rename gives the classes of a model their present names, by way of names that no
// class has, because two may have changed them.
func rename(m *model.Model, present func(class string) string) error {
	var passing, now []string
	for i, class := range slices.Clone(m.Classes()) {
		if name := present(class); name != class {
			through := fmt.Sprintf("\x00%d", i)
			for slices.Contains(m.Classes(), through) {
				through += "\x00"
			}
			passing, now = append(passing, through), append(now, name)
			if err := m.RenameClass(class, passing[len(passing)-1]); err != nil {
				return err
			}
		}
	}
	for i, name := range now {
		if err := m.RenameClass(passing[i], name); err != nil {
			return err
		}
	}
	return nil
}

// difference returns what to forget and what to learn to get from some examples to
// others.
func difference(have, want []model.SampleID, d int, row func(ID) []float32) (gone, learned model.Batch, err error) {
	less := func(all, without []model.SampleID) (model.Batch, error) {
		there := setOf(without)
		rest := slices.DeleteFunc(slices.Clone(all), func(s model.SampleID) bool { return there[s] })
		return batch(rest, d, row)
	}
	if gone, err = less(have, want); err == nil {
		learned, err = less(want, have)
	}
	return gone, learned, err
}

// wouldWrite reports whether a model has learned what a model of a state has.
func (b *base) wouldWrite(m *model.Model, st *state) bool {
	return m.Method == b.model.Method && bytes.Equal(m.HeadConfig, b.model.HeadConfig) &&
		maps.Equal(setOf(samplesOf(m)), setOf(st.examples()))
}

func (b *base) intact() error { return displaced(b.open, b.file, b.size) }

// restore writes the base model again, from the file that has lost its name.
func (b *base) restore() error {
	info, err := b.open.Stat()
	if err != nil {
		return err
	}
	err = atomicfile.Write(b.file, func(f *atomicfile.File) error {
		_, err := io.Copy(f, io.NewSectionReader(b.open, 0, b.size))
		return errors.Join(err, f.Chmod(info.Mode().Perm()))
	})
	if err != nil {
		return err
	}
	return b.hold()
}

// hold opens the file of the base model, to notice when its name means another.
func (b *base) hold() error {
	f, size, err := regularfile.Open(b.file)
	if err != nil {
		return err
	}
	err = b.close()
	b.open, b.size = f, size
	return err
}

// close accepts nil.
func (b *base) close() error {
	if b == nil || b.open == nil {
		return nil
	}
	f := b.open
	b.open = nil
	return f.Close()
}
