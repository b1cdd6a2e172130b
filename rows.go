package pipeline

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/method"
)

// A rowsRequest is a line of the input of Rows; its rows follow it as little-endian float32.
type rowsRequest struct {
	// Do is "fit" or "predict".
	Do string `json:"do"`
	// Model is the file that fit writes and predict reads.
	Model   string   `json:"model"`
	Rows    int      `json:"rows"`
	Columns int      `json:"columns"`
	Labels  []string `json:"labels"` // one for each row, to fit
	Method  string   `json:"method"` // to fit, "" compares several
	Seed    uint64   `json:"seed"`   // to fit
}

// A rowsAnswer is a line of the output of Rows; the probabilities of Rows rows follow it, if there
// are any, as little-endian float64, one for each of Classes.
type rowsAnswer struct {
	Classes []string `json:"classes,omitempty"`
	Method  string   `json:"method,omitempty"` // that was fitted
	Rows    int      `json:"rows"`
	Error   string   `json:"error,omitempty"`
}

// Most columns and bytes of a line: what is larger is no request.
const (
	mostColumns   = 1 << 20
	mostRowsBytes = 1 << 30
)

// Rows answers requests of another program until in ends: to fit models to numbers of its own, and
// to predict. docs/formats-results.md has their format. A request that fails is answered with its
// error; the error returned is that of a stream that no further request can be read from.
func (s *Studio) Rows(ctx context.Context, in io.Reader, out io.Writer) error {
	ended := make(chan error, 1)
	go func() { // which waits for in, and so may outlast ctx
		ended <- (&rowsWorker{studio: s, in: bufio.NewReaderSize(in, 1<<20), out: bufio.NewWriter(out)}).run(ctx)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-ended:
		return err
	}
}

// A rowsWorker keeps the model of the last request.
type rowsWorker struct {
	studio *Studio
	in     *bufio.Reader
	out    *bufio.Writer
	model  *Model
	read   os.FileInfo // of the file of model when it was read
}

func (w *rowsWorker) run(ctx context.Context) error {
	for {
		q, err := w.request()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read requests: %w", err)
		}
		x, err := readRows(w.in, q.Rows, q.Columns)
		if err != nil {
			return fmt.Errorf("read the %d rows of a request: %w", q.Rows, err)
		}
		answer, probabilities, err := w.answer(ctx, q, x)
		if err != nil {
			answer, probabilities = rowsAnswer{Error: err.Error()}, nil
		}
		if err := w.write(answer, probabilities); err != nil {
			return fmt.Errorf("write answers: %w", err)
		}
	}
}

// request reads a line; io.EOF if there is none.
func (w *rowsWorker) request() (q rowsRequest, err error) {
	var line []byte
	for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
		var part []byte
		part, err = w.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > mostRowsBytes {
			return q, fmt.Errorf("a line has more than %d bytes", mostRowsBytes)
		}
	}
	if err != nil {
		if err == io.EOF && len(line) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return q, err
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return q, err
	}
	if q.Rows < 0 || q.Columns < 0 || q.Columns > mostColumns {
		return q, fmt.Errorf("%d rows of %d values: give at most %d values", q.Rows, q.Columns, mostColumns)
	}
	return q, nil
}

// readRows takes memory only for rows that come.
func readRows(in io.Reader, rows, columns int) (blas32.General, error) {
	x := blas32.General{Rows: rows, Cols: columns, Stride: max(columns, 1)}
	row := make([]byte, 4*columns)
	for range rows {
		if _, err := io.ReadFull(in, row); err != nil {
			return x, err
		}
		for i := 0; i < len(row); i += 4 {
			x.Data = append(x.Data, math.Float32frombits(binary.LittleEndian.Uint32(row[i:])))
		}
	}
	return x, nil
}

func (w *rowsWorker) answer(ctx context.Context, q rowsRequest, x blas32.General) (rowsAnswer, []float64, error) {
	if q.Model == "" {
		return rowsAnswer{}, nil, errors.New("the request names no file for the model")
	}
	switch q.Do {
	case "fit":
		answer, err := w.fit(ctx, q, x)
		return answer, nil, err
	case "predict":
		return w.predict(ctx, q, x)
	}
	return rowsAnswer{}, nil, fmt.Errorf("the request is to do %q: fit or predict", q.Do)
}

func (w *rowsWorker) fit(ctx context.Context, q rowsRequest, x blas32.General) (rowsAnswer, error) {
	name := q.Method
	if name == "" {
		name = method.Auto
	}
	m, err := w.studio.fit(ctx, x, q.Labels, Method(name), Seed(q.Seed), Into(q.Model))
	if err != nil {
		return rowsAnswer{}, err
	}
	return rowsAnswer{Classes: m.Classes(), Method: m.Method()}, nil
}

func (w *rowsWorker) predict(ctx context.Context, q rowsRequest, x blas32.General) (rowsAnswer, []float64, error) {
	info, err := os.Stat(q.Model)
	if err != nil {
		return rowsAnswer{}, nil, err
	}
	if w.model == nil || w.model.file != q.Model || !sameFile(w.read, info) {
		if w.model, err = w.studio.Load(ctx, q.Model); err != nil {
			return rowsAnswer{}, nil, err
		}
		w.read = info
	}
	if err := w.model.accepts(x); err != nil {
		return rowsAnswer{}, nil, err
	}
	classes := w.model.Classes()
	probabilities := make([]float64, 0, x.Rows*len(classes))
	err = classifier.Batches(w.model.trained.Predictor, x, func(_ int, logProb blas64.General) error {
		for i := range logProb.Rows {
			for _, p := range dense.Row(logProb, i) {
				probabilities = append(probabilities, math.Exp(p))
			}
		}
		return ctx.Err()
	})
	return rowsAnswer{Classes: classes, Rows: x.Rows}, probabilities, err
}

// sameFile reports whether a file is still the one that it was.
func sameFile(was, is os.FileInfo) bool {
	return os.SameFile(was, is) && was.ModTime().Equal(is.ModTime()) && was.Size() == is.Size()
}

func (w *rowsWorker) write(answer rowsAnswer, probabilities []float64) error {
	line, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	if _, err := w.out.Write(append(line, '\n')); err != nil {
		return err
	}
	for part := range slices.Chunk(probabilities, 1<<12) {
		if err := binary.Write(w.out, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return w.out.Flush()
}
