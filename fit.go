package pipeline

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/model"
)

// Fit trains a model on numbers of one's own: row i is an example of the class labels[i]. All rows
// have the same length d. What Predict says is calibrated. Cost: that of the method, O(nd²) for the
// default.
func (s *Studio) Fit(ctx context.Context, rows [][]float32, labels []string, options ...TrainOption) (*Model, error) {
	q := newTrainRequest(Source{}, options)
	if len(labels) != len(rows) {
		return nil, misuse("fit: %d rows and %d labels: give a label for each row", len(rows), len(labels))
	}
	x, err := matrix(rows)
	if err != nil {
		return nil, err
	}
	r := s.begin(ctx)
	settings := r.modelSettings(q)
	if settings.Backend, err = r.Products(ctx); err != nil {
		return nil, err
	}
	b := model.Batch{X: x, Labels: labels, Content: make([]model.Hash, len(rows))}
	for i, row := range rows {
		b.Content[i] = embed.HashRow(row)
	}
	trained, _, err := model.Train(ctx, settings, b)
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
	if d := m.trained.Dim(); x.Cols != d {
		return nil, misuse("predict: rows have %d values, and those that the model has learned %d", x.Cols, d)
	}
	return classifier.Predict(m.trained.Predictor, x, len(m.Classes()))
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
