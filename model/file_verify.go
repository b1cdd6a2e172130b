package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// probeRows is the number of rows that Load scores, and that Save scores with the
// model and with its copy from the disk.
const probeRows = 3

// errReadBack wraps why a file that Save has just written is not the model.
var errReadBack = errors.New("the new file could not be read back and was removed, nothing else changed; this is a " +
	"defect of pipeline, please report it")

// readBack loads the file that Save is about to make the model. It must encode to
// the same bytes, which covers everything stored, and score the same.
func (m *Model) readBack(path string, written safetensors.Written, pointer *statisticsPointer) error {
	makes := m.makes
	if makes.load == nil {
		makes = methods()
	}
	back, err := load(path, makes)
	if err != nil {
		return fmt.Errorf("%w: %w", errReadBack, err)
	}
	c, err := back.encode(pointer)
	if err != nil {
		return fmt.Errorf("%w: %w", errReadBack, err)
	}
	if again, err := c.Digest(); err != nil || again != written {
		return fmt.Errorf("%w: it holds another model (%w)", errReadBack, errors.Join(err, ErrAltered))
	}
	back.Predictor.UseBackend(m.Predictor.env.Backend)
	if err := sameScores(m.Predictor, back.Predictor); err != nil {
		return fmt.Errorf("%w: %w", errReadBack, err)
	}
	return nil
}

// sameScores compares the scores of the probes. They should be equal to the bit,
// but a last bit is no reason to lose a training.
func sameScores(a, b *Predictor) error {
	logProbA, noveltyA, errA := a.probe()
	logProbB, noveltyB, errB := b.probe()
	near := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-6*(1+math.Abs(a)) }
	switch {
	case errA != nil || errB != nil:
		return errors.Join(errA, errB)
	case !slices.EqualFunc(logProbA, logProbB, near), !slices.EqualFunc(noveltyA, noveltyB, near):
		return errors.New("it scores differently")
	}
	return nil
}

// probe scores a few rows of standard normal numbers, if p is fitted. The error
// says that a score is not a number.
func (p *Predictor) probe() (logProb, novelty []float64, err error) {
	classes := len(p.Classes())
	if classes == 0 {
		return nil, nil, nil
	}
	x := probes(p.Dim())
	dst, novelty := dense.New(x.Rows, classes), make([]float64, x.Rows)
	err = p.Score(dst, novelty, x)
	return dst.Data, novelty, err
}

// probes returns rows of standard normal numbers.
func probes(dim int) blas32.General {
	x, rng := dense.New32(probeRows, dim), random.Stream(0, "model/probe", dim)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	return x
}
