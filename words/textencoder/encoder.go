package textencoder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

// Config configures an Encoder. The zero value detects everything.
type Config struct {
	// Output names the tensor to read; "" detects it.
	Output string
	// Length is the number of tokens of a text, unless the network fixes it; 0 is what the
	// tokenizer says, else 77.
	Length int
	// Pad is the token that fills a text; nil is that of the tokenizer.
	Pad *int32
}

// clipLength is the number of tokens that CLIP's networks take.
const clipLength = 77

// An Encoder is a network of texts ready to run. It is safe for concurrent use.
type Encoder struct {
	rt        *ort.Runtime
	tokenizer *tokenizer.Tokenizer
	plan      plan
	length    int
	pad       int32
	padded    bool // every text, to length
	dim       int

	running sync.RWMutex // Embed reads, Close writes
	session *ort.Session // nil after Close
}

// Open prepares a network from its bytes, which must not change afterwards. The name is
// for messages. Cost: 0.1 to 1 s.
func Open(rt *ort.Runtime, modelBytes []byte, name string, t *tokenizer.Tokenizer, cfg Config) (*Encoder, error) {
	e, err := open(rt, modelBytes, t, cfg)
	if err != nil {
		return nil, fmt.Errorf("text network %s: %w", name, err)
	}
	return e, nil
}

func open(rt *ort.Runtime, modelBytes []byte, t *tokenizer.Tokenizer, cfg Config) (*Encoder, error) {
	m, err := onnx.Parse(modelBytes)
	if err != nil {
		return nil, err
	}
	p, err := makePlan(m, cfg.Output)
	if err != nil {
		return nil, err
	}
	e := &Encoder{rt: rt, tokenizer: t, plan: p, pad: t.Pad(), padded: true,
		length: cmp.Or(p.length, cfg.Length, t.Length(), clipLength)}
	if cfg.Pad != nil {
		e.pad = *cfg.Pad
	}
	if e.length < 1 || e.length > tokenizer.MaxLength {
		return nil, fmt.Errorf("takes %d tokens: not in 1…%d", e.length, tokenizer.MaxLength)
	}
	if e.session, err = rt.NewSession(p.model, p.inputs(), []string{p.output}, ort.CPU); err != nil {
		return nil, err
	}
	e.plan.model = nil // the session has its own copy
	if err := e.probe(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// probe finds d, and whether short texts need padding.
func (e *Encoder) probe() error {
	ids := e.ids("a photo of a cat")
	in, err := e.tensors(ids)
	if err != nil {
		return err
	}
	dims, err := e.session.Shape(in...)
	if err = errors.Join(err, closeAll(in)); err != nil {
		return fmt.Errorf("does not run with %d tokens; if it takes fewer, set text.length: %w", e.length, err)
	}
	if len(dims) != 2 || dims[0] != 1 || dims[1] < 1 {
		return fmt.Errorf("output %q has the shape %v, not [1, d] for one text: set text.output to one with a vector "+
			"per text", e.plan.tensor, dims)
	}
	e.dim = int(dims[1])
	if e.plan.length > 0 || e.tokenizer.Fixed() {
		return nil
	}
	with, err := e.run(ids)
	if err != nil {
		return err
	}
	e.padded = false
	without, err := e.run(e.ids("a photo of a cat"))
	e.padded = err != nil || cosine(with, without) < sameText
	return nil
}

// sameText is the cosine above which padding makes no difference but rounding's.
const sameText = 0.99999

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// Dim returns the length d of an embedding.
func (e *Encoder) Dim() int { return e.dim }

// Output returns the name of the tensor that embeddings are read from.
func (e *Encoder) Output() string { return e.plan.tensor }

// Length returns the number of tokens of a text that are read.
func (e *Encoder) Length() int { return e.length }

// Padded reports whether short texts are filled up to Length.
func (e *Encoder) Padded() bool { return e.padded }

// Embed returns the embeddings of texts (n×d), each of length 1. It stops between two
// texts when ctx is done.
func (e *Encoder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.running.RLock()
	defer e.running.RUnlock()
	if e.session == nil {
		return nil, errors.New("the text network is closed")
	}
	rows := make([][]float32, len(texts))
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, text := range texts {
		group.Go(func() (err error) {
			if running.Err() != nil {
				return running.Err()
			}
			if rows[i], err = e.run(e.ids(text)); err != nil {
				return fmt.Errorf("text %.80q: %w", text, err)
			}
			return nil
		})
	}
	return rows, group.Wait()
}

// ids returns the tokens of a text, with padding if the network needs it, and how many are
// not padding.
func (e *Encoder) ids(text string) tokens {
	ids := e.tokenizer.Encode(text, e.length)
	t := tokens{count: len(ids)}
	for len(ids) == 0 || e.padded && len(ids) < e.length {
		ids = append(ids, e.pad)
	}
	t.ids = ids
	return t
}

// tokens are those of a text; the first count are not padding.
type tokens struct {
	ids   []int32
	count int
}

// tensors returns the inputs of the network.
func (e *Encoder) tensors(t tokens) (in []*ort.Tensor, err error) {
	mask := make([]int32, len(t.ids))
	for i := range t.count {
		mask[i] = 1
	}
	values := [][]int32{t.ids}
	if e.plan.mask.Name != "" {
		values = append(values, mask)
	}
	for i, v := range []onnx.Value{e.plan.tokens, e.plan.mask}[:len(values)] {
		tensor, err := e.integers(v.Elem, values[i])
		if err != nil {
			return nil, errors.Join(err, closeAll(in))
		}
		in = append(in, tensor)
	}
	return in, nil
}

func (e *Encoder) integers(elem onnx.ElemType, values []int32) (*ort.Tensor, error) {
	n := int64(len(values))
	if elem == onnx.Int32 {
		return e.rt.WrapInt32(values, 1, n)
	}
	wide := make([]int64, n)
	for i, v := range values {
		wide[i] = int64(v)
	}
	return e.rt.WrapInt64(wide, 1, n)
}

func closeAll(tensors []*ort.Tensor) (err error) {
	for _, t := range tensors {
		err = errors.Join(err, t.Close())
	}
	return err
}

// run returns the embedding of one text.
func (e *Encoder) run(t tokens) (row []float32, err error) {
	in, err := e.tensors(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeAll(in)) }()
	out, err := e.rt.NewTensor(1, int64(e.dim))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := e.session.Run(in, []*ort.Tensor{out}); err != nil {
		return nil, err
	}
	return unit(out.Data())
}

// unit returns v scaled to length 1.
func unit(v []float32) ([]float32, error) {
	var squares float64
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	if !(squares > 0) || math.IsInf(squares, 0) {
		return nil, errors.New("its embedding is zero or not finite")
	}
	row := make([]float32, len(v))
	for i, x := range v {
		row[i] = float32(float64(x) / math.Sqrt(squares))
	}
	return row, nil
}

// Close waits for running calls and frees the network. Later calls of Embed fail.
func (e *Encoder) Close() error {
	e.running.Lock()
	defer e.running.Unlock()
	if e.session == nil {
		return nil
	}
	err := e.session.Close()
	e.session = nil
	return err
}
