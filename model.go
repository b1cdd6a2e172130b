package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// A Model names what photos show. It is safe for concurrent use as long as nobody changes it.
type Model struct {
	studio  *Studio
	file    string // from which it was loaded, or in which it was saved last
	trained *model.Model
}

// Load reads a model from a file.
func (s *Studio) Load(ctx context.Context, file string) (*Model, error) {
	m, err := s.begin(ctx).load(file)
	if err != nil {
		return nil, err
	}
	return &Model{s, file, m}, nil
}

// Save writes the model into a file, whole or not at all. The version that was there before is kept
// beside it until the next one.
func (m *Model) Save(file string) error {
	if m.file == file && taught(file) {
		return nil // Learn has saved it, from its journal
	}
	if err := replaceable(file); err != nil {
		return err
	}
	if err := m.trained.Save(file); err != nil {
		return err
	}
	m.file = file
	return nil
}

// Classes returns the names of the classes, in the order in which they were learned.
func (m *Model) Classes() []string { return m.trained.Classes() }

// Method returns the name of the method.
func (m *Model) Method() string { return m.trained.Method }

// Trained returns the model as package model has it.
func (m *Model) Trained() *model.Model { return m.trained }

// Learn teaches the model one more session: new classes, or more photos of old ones. Photos that it
// has learned change nothing. The model is unchanged if there is an error, except for a
// PartialError: then some photos could not be read, and the others are learned. A model that was
// taught, by serve or start, learns this as a line of its journal, and is saved.
func (m *Model) Learn(ctx context.Context, from Source) (*Learned, error) {
	r := m.studio.begin(ctx)
	if taught(m.file) {
		l, err := r.learnTaught(ctx, LearnRequest{Model: m.file, From: from}, nil)
		if l != nil && l.Model != nil {
			m.trained = l.Model
		}
		return l, err
	}
	in := r.inputs(from, "")
	e, b, err := in.labelled(ctx, m.trained)
	if err != nil {
		return nil, err
	}
	outcome, err := m.trained.Learn(ctx, b)
	if err != nil {
		return nil, err
	}
	l := &Learned{Model: m.trained, File: m.file, Outcome: outcome, Failed: len(e.Outcome.Problems)}
	l.outcome(r, "learned")
	return l, r.problems(e.Outcome.Problems, "")
}

// A Label is what a model says of one photo.
type Label struct {
	// Path is relative to the folder of the source.
	Path string
	// Class is what the photo shows; "" if it is unknown, or several things by a person's decision.
	Class string
	// Probability is that of Class, and New that the photo is of no class of the model, each from 0
	// to 1; New is nil if the model cannot tell.
	Probability float64
	New         *float64
	// Rejected reports that the photo is called unknown.
	Rejected bool
	// By says who decided: label.Person, or "" for the model.
	By label.By
	// Ranked are the most probable classes, also of an unknown photo, the best first.
	Ranked []classifier.Ranked
}

// A PhotoError reports a photo that could not be read.
type PhotoError struct {
	Path string
	Err  error
}

func (e *PhotoError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *PhotoError) Unwrap() error { return e.Err }

// A LabelOption changes how photos are labelled.
type LabelOption func(*label.Config)

// Reject calls photos unknown that look like no class; share is how many of those like the learned
// ones may be among them, from 0 to 1.
func Reject(share float64) LabelOption { return func(c *label.Config) { c.Reject = share } }

// TopK is the number of Label.Ranked; it is 5 otherwise.
func TopK(n int) LabelOption { return func(c *label.Config) { c.TopK = n } }

// errStopped ends a pass whose labels nobody wants any more.
var errStopped = errors.New("stopped")

// Label labels photos in the order of the source, a few at a time. The error of a photo that could
// not be read is a *PhotoError, and the range goes on; any other error is the last of the range.
func (m *Model) Label(ctx context.Context, from Source, options ...LabelOption) iter.Seq2[Label, error] {
	c := label.DefaultConfig()
	for _, option := range options {
		option(&c)
	}
	return func(yield func(Label, error) bool) {
		if err := m.label(ctx, from, c, yield); err != nil && !errors.Is(err, errStopped) {
			yield(Label{}, err)
		}
	}
}

func (m *Model) label(ctx context.Context, from Source, c label.Config, yield func(Label, error) bool) (err error) {
	if err := c.Validate(); err != nil {
		return &UsageError{err}
	}
	in, err := m.studio.begin(ctx).inputs(from, "").open(ctx, m.trained, anyImages)
	if err != nil {
		return err
	}
	defer closeInto(in, &err)
	threshold, err := m.trained.Threshold(c.Reject)
	if err != nil {
		return err
	}
	p := m.trained.Predictor
	scorer := c.Scorer(p, label.Above(threshold), p.Calibration)
	if m.file != "" {
		if scorer.Decided, err = teach.Decided(m.file, m.trained); err != nil {
			return err
		}
	}
	rows := failing{in, func(path string, err error) bool { return yield(Label{Path: path}, &PhotoError{path, err}) }}
	_, err = label.Pass{Scorer: scorer, Rows: rows, Sinks: []label.Sink{yielding(yield)}}.Run(ctx)
	return err
}

// failing tells of the rows that could not be read.
type failing struct {
	embedding.Rows
	tell func(path string, err error) (goOn bool)
}

// Each implements embedding.Rows.
func (f failing) Each(ctx context.Context, emit func(embedding.Item) error) (embedding.Outcome, error) {
	return f.Rows.Each(ctx, func(item embedding.Item) error {
		if item.Err != nil && !f.tell(item.Sample.Path, item.Err) {
			return errStopped
		}
		return emit(item)
	})
}

// yielding is a sink that gives every row to a range.
type yielding func(Label, error) bool

// Put implements label.Sink.
func (y yielding) Put(s label.Scored) error {
	l := Label{
		Path: s.Sample.Path, Probability: s.Prediction.Probability, New: s.New, Rejected: s.Rejected, By: s.By,
		Ranked: s.Prediction.TopK,
	}
	if !s.Rejected && !s.OfNoClass() {
		l.Class = s.Prediction.Label
	}
	if !y(l, nil) {
		return errStopped
	}
	return nil
}

// Commit implements label.Sink.
func (yielding) Commit(embedding.Outcome) error { return nil }

// Abort implements label.Sink.
func (yielding) Abort() {}

// taught reports whether a MODEL file follows from a journal.
func taught(file string) bool { return file != "" && teach.StartFile(file) != file }

// notTaught refuses a preference where nothing was decided.
func notTaught(file string) error {
	return misuse("{prefer} is for models that were taught with serve, and %s was not: leave it out", file)
}

// Writable returns an error if one of the named files cannot be written, or is a
// model that is being served, so that a request fails before its work rather than after
// it. Empty names and "-" are no files.
func Writable(files ...string) error {
	for _, file := range files {
		if file == "" || file == streamed {
			continue
		}
		f, err := atomicfile.Create(file)
		if err != nil {
			return err
		}
		f.Abort()
		if err := teach.Free(file); err != nil {
			return err
		}
	}
	return nil
}

// replaceable returns an error unless another model can take the place of a MODEL file, which
// must not follow from a journal.
func replaceable(file string) error {
	if err := Writable(file); err != nil {
		return err
	}
	if taught(file) {
		return misuse("%s was taught with serve, and only photos can be added to its journal: give another {out}", file)
	}
	return nil
}

// save writes a model, unless it has no file or a server was started on it since the request began.
func save(m *model.Model, file string) error {
	if file == "" {
		return nil
	}
	if err := teach.Free(file); err != nil {
		return err
	}
	return m.Save(file)
}

// Fit trains a model on numbers of one's own: row i is an example of the class labels[i]. All rows
// have the same length d. What Predict says is calibrated. Cost: that of the method, O(nd²) for the
// default.
func (s *Studio) Fit(ctx context.Context, rows [][]float32, labels []string, options ...TrainOption) (*Model, error) {
	x, err := matrix(rows)
	if err != nil {
		return nil, err
	}
	return s.fit(ctx, x, labels, options...)
}

func (s *Studio) fit(ctx context.Context, x blas32.General, labels []string, options ...TrainOption) (*Model, error) {
	q := newTrainRequest(Source{}, options)
	if len(labels) != x.Rows {
		return nil, misuse("fit: %d rows and %d labels: give a label for each row", x.Rows, len(labels))
	}
	r := s.begin(ctx)
	settings := r.modelSettings(q)
	products, err := r.Products(ctx)
	if err != nil {
		return nil, err
	}
	settings.Backend = products.Backend
	trained, _, err := model.Train(ctx, settings, model.Batch{X: x, Labels: labels, Content: embedding.HashRows(x)})
	if err != nil {
		return nil, err
	}
	m := &Model{s, "", trained}
	if q.Out == "" {
		return m, nil
	}
	return m, m.Save(q.Out)
}

// Predict returns the calibrated probabilities of the classes of rows of the same network, or of the
// same origin, as those that the model has learned.
func (m *Model) Predict(ctx context.Context, rows [][]float32) ([]classifier.Prediction, error) {
	x, err := matrix(rows)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := m.accepts(x); err != nil {
		return nil, err
	}
	return classifier.Predict(m.trained.Predictor, x, len(m.Classes()))
}

// accepts returns an error unless rows have as many values as those that the model has learned.
func (m *Model) accepts(x blas32.General) error {
	if d := m.trained.Dim(); x.Cols != d {
		return misuse("predict: rows have %d values, and those that the model has learned %d", x.Cols, d)
	}
	return nil
}

// matrix returns rows of equal length as a matrix.
func matrix(rows [][]float32) (blas32.General, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return blas32.General{}, &UsageError{errors.New("there are no rows, or rows without values")}
	}
	x := blas32.General{Rows: len(rows), Cols: len(rows[0]), Stride: len(rows[0])}
	x.Data = make([]float32, 0, x.Rows*x.Cols)
	for i, row := range rows {
		if len(row) != x.Cols {
			return x, &UsageError{fmt.Errorf("row %d has %d values, and the first %d", i, len(row), x.Cols)}
		}
		x.Data = append(x.Data, row...)
	}
	return x, nil
}
