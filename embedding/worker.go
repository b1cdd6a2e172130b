package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// A worker takes one sample after another and collects its own batch of those
// that need inference.
type worker struct {
	*run
	extractor Extractor
	pixels    []float32 // rows×3×side×side, or more
	rows      int       // of pixels that are filled
	batch     []claimed
	file      []byte // reused between files
}

// claimed is a place whose content its worker computes.
type claimed struct {
	place
	hash   cache.Hash
	remark preprocess.Remark
	rows   int // of the batch: the squares that stand for the picture
}

// loop works until the samples end. A worker that holds an unfinished batch
// never waits for more samples, which may in turn wait for that batch: if none
// is available it computes what it has.
func (w *worker) loop() error {
	for {
		j, more, atHand := w.take()
		var err error
		switch {
		case w.ctx.Err() != nil:
			return nil
		case !atHand:
			err = w.flush()
		case !more:
			return w.flush()
		default:
			err = w.do(j)
		}
		if err != nil {
			return err
		}
	}
}

// take returns the next job; more is false after the last. With a batch begun
// it does not wait, and atHand is false if no job is available now.
func (w *worker) take() (j job, more, atHand bool) {
	if len(w.batch) == 0 {
		select {
		case j, more = <-w.jobs:
		case <-w.ctx.Done():
		}
		return j, more, true
	}
	select {
	case j, more = <-w.jobs:
		return j, more, true
	default:
		return job{}, true, false
	}
}

// readings is how often a file is read that changes each time.
const readings = 3

// do completes one job or adds it to the batch. An error ends the run.
func (w *worker) do(j job) error {
	for range readings - 1 {
		if err := w.readAndResolve(j, w.growing); err != errAgain {
			return err
		}
	}
	return w.readAndResolve(j, nil)
}

// readAndResolve is do, which returns errAgain where a patient finds that the file has changed.
func (w *worker) readAndResolve(j job, p *patient) error {
	abs := dataset.FullPath(w.root, j.file())
	state, err := cache.Stat(abs)
	if err != nil {
		w.finishAll(j, Item{Err: err})
		return nil
	}
	if h, known := w.Cache.Lookup(abs, state); known && w.stored(j, h) {
		return nil
	}
	release, err := w.wait(state.Size)
	if err != nil {
		w.finishAll(j, Item{Err: err})
		return nil
	}
	defer release()
	if state, err = w.read(abs, state.Size); errors.Is(err, cache.ErrFileChanged) {
		if now, gone := cache.Stat(abs); gone == nil {
			err = p.judge(w.ctx, abs, now, errAgain)
		}
	}
	if err == errAgain && p != nil {
		return err
	}
	if err != nil {
		w.finishAll(j, Item{Err: err})
		return nil
	}
	h := cache.HashOf(w.file)
	if err := w.Cache.Record(abs, state, h); err != nil {
		return err
	}
	if !p.young(state) {
		return w.resolve(j, h, nil)
	}
	return w.resolve(j, h, func(err error) error { return p.judge(w.ctx, abs, state, err) })
}

// stored completes a job of the file h whose embeddings are all in the cache, and reports
// whether they are.
func (w *worker) stored(j job, h cache.Hash) bool {
	items := make([]Item, len(j.samples))
	for at, s := range j.samples {
		content := ContentHash(h, s.Box)
		v, hit := w.Cache.Get(content)
		if !hit {
			return false
		}
		items[at] = Item{Hash: content, Vector: v, Cached: true}
	}
	for at, item := range items {
		w.finish(place{j, at}, item)
	}
	return true
}

// wait waits for the memory to read a file.
func (w *worker) wait(size int64) (release func(), err error) {
	if w.Budget == nil {
		return func() {}, nil
	}
	return w.Budget.File(w.ctx, size)
}

// read fills w.file with a file of at most size bytes and counts them.
func (w *worker) read(abs string, size int64) (cache.FileState, error) {
	const keepBytes = 8 << 20 // memory that the budget does not count
	if cap(w.file) > keepBytes {
		w.file = nil
	}
	file, state, err := cache.ReadStable(abs, w.file, size)
	w.file = file
	if err == nil {
		w.mu.Lock()
		w.counts.Read++
		w.counts.Bytes += int64(len(file))
		w.mu.Unlock()
	}
	return state, err
}

// resolve finds the embeddings of a job of the file h, which is in w.file. If judge is not nil, the file may be
// growing, and judge says what becomes of it if it is not whole; nobody waits for the embeddings of such a file.
func (w *worker) resolve(j job, h cache.Hash, judge func(error) error) error {
	var todo []claimed
	for at, s := range j.samples {
		c := claimed{place: place{j, at}, hash: ContentHash(h, s.Box)}
		if judge == nil && !w.claim(c.hash, c.place) {
			continue
		}
		if v, hit := w.Cache.Get(c.hash); hit {
			w.land(c.place, Item{Hash: c.hash, Vector: v, Cached: true})
			continue
		}
		todo = append(todo, c)
	}
	if len(todo) == 0 {
		return nil
	}
	if err := w.prepare(); err != nil {
		return err
	}
	if j.samples[0].Box != nil {
		return w.boxes(todo, judge)
	}
	c := todo[0]
	ctx := preprocess.WithRemarks(w.ctx, func(r preprocess.Remark) { c.remark = cmp.Or(c.remark, r) })
	err := w.Preprocessor.Tensors(ctx, w.file, func(tensor func([]float32) error) error { return w.row(&c, tensor) })
	if judge != nil && (err != nil || c.remark == preprocess.RemarkEnd) {
		err = judge(err)
	}
	if err == errAgain {
		return err
	}
	return w.add(c, err)
}

// row adds what tensor writes to the rows of c, the next in the batch.
func (w *worker) row(c *claimed, tensor func(dst []float32) error) error {
	size := 3 * w.Side * w.Side
	at := (w.rows + c.rows) * size
	if len(w.pixels) < at+size {
		w.pixels = append(w.pixels, make([]float32, size)...)
	}
	c.rows++
	return tensor(w.pixels[at : at+size])
}

// add adds c to the batch, unless err says why it has no rows, and computes the batch once it
// is full.
func (w *worker) add(c claimed, err error) error {
	if err != nil {
		w.land(c.place, Item{Hash: c.hash, Err: err})
		return nil
	}
	w.batch = append(w.batch, c)
	if w.rows += c.rows; w.rows >= w.extractor.Batch() {
		return w.flush()
	}
	return nil
}

// prepare opens the extractor and allocates a batch at the first miss.
func (w *worker) prepare() error {
	if w.extractor != nil {
		return nil
	}
	e, err := w.open()
	if err != nil {
		return err
	}
	w.extractor = e
	w.pixels = make([]float32, e.Batch()*3*w.Side*w.Side)
	return nil
}

// flush computes the batch and delivers its items.
func (w *worker) flush() error {
	if w.rows == 0 {
		return nil
	}
	x := dense.New32(w.rows, w.extractor.Dim())
	if err := extract(w.extractor, x, w.pixels[:w.rows*3*w.Side*w.Side]); err != nil {
		return fmt.Errorf("compute embeddings: %w", err)
	}
	row := 0
	for _, c := range w.batch {
		if err := w.keep(c, meanRow(x, row, c.rows)); err != nil {
			return err
		}
		row += c.rows
	}
	w.batch, w.rows = w.batch[:0], 0
	return nil
}

// extract computes the rows of x, as many at once as e takes. A row that is not finite is no
// error: meanRow shows it.
func extract(e Extractor, x blas32.General, pixels []float32) error {
	size := len(pixels) / x.Rows
	for from := 0; from < x.Rows; from += e.Batch() {
		to := min(from+e.Batch(), x.Rows)
		part := blas32.General{Rows: to - from, Cols: x.Cols, Stride: x.Stride, Data: x.Data[from*x.Stride:]}
		var oneBad *extractor.NonFiniteError
		err := e.Extract(part, pixels[from*size:to*size])
		if err != nil && !errors.As(err, &oneBad) {
			return err
		}
	}
	return nil
}

// meanRow returns the mean of n rows of x; of one row, the row itself.
func meanRow(x blas32.General, first, n int) []float32 {
	mean := slices.Clip(dense.Row32(x, first))
	for i := 1; i < n; i++ {
		for j, v := range dense.Row32(x, first+i) {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= float32(n)
	}
	return mean
}

// errNotFinite fails one item rather than the run: half-precision models
// overflow on single images.
var errNotFinite = errors.New("the backbone returned NaN or Inf for this image: a float16 model may overflow (export " +
	"it as float32), or the normalisation is not the model's own")

// keep stores a computed embedding before it is delivered.
func (w *worker) keep(c claimed, v []float32) error {
	if !dense.Finite32(v) {
		w.land(c.place, Item{Hash: c.hash, Err: errNotFinite})
		return nil
	}
	if err := w.Cache.Put(c.hash, v); err != nil {
		return err
	}
	w.land(c.place, Item{Hash: c.hash, Vector: v, Remark: c.remark})
	return nil
}
