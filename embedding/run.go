package embedding

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
)

// A job is one image in progress, with one sample, or several that are boxes of it; seq is
// its position in the order.
type job struct {
	seq     int
	samples []dataset.Sample
}

// file returns the path of the image.
func (j job) file() string { return j.samples[0].File() }

// A place is that of one sample of a job.
type place struct {
	job
	at int
}

// A run is the state shared by the feeder, the workers and the emitter of one
// Stream.Run.
//
// The feeder takes a token for each sample and the emitter returns it, so at
// most one window of samples is in progress, or one image with more boxes than that.
// Items wait in a ring for their turn.
type run struct {
	*Stream
	ctx    context.Context
	fail   context.CancelCauseFunc // ends the run; the first cause counts
	root   string
	open   func() (Extractor, error) // once
	tokens chan struct{}
	jobs   chan job

	mu     sync.Mutex
	ready  sync.Cond  // the items that are next in order are there, or the run is over
	ring   []finished // those of seq are at seq mod window
	fed    int        // jobs accepted
	ended  bool
	counts Counts
	// flights lists what waits for each content being computed.
	flights map[cache.Hash][]place
}

// finished are the items of a job so far.
type finished struct {
	items []Item
	n     int
}

func (f finished) complete() bool { return f.n > 0 && f.n == len(f.items) }

func newRun(ctx context.Context, s *Stream, root string) *run {
	window := s.window()
	r := &run{
		Stream: s, root: root, flights: map[cache.Hash][]place{},
		tokens: make(chan struct{}, window), jobs: make(chan job, window), ring: make([]finished, window),
	}
	r.ctx, r.fail = context.WithCancelCause(ctx)
	r.open = sync.OnceValues(r.openChecked)
	r.ready.L = &r.mu
	return r
}

func (r *run) openChecked() (Extractor, error) {
	e, err := r.Open()
	if err != nil {
		return nil, err
	}
	side := e.Side()
	if side != 0 && side != r.Side {
		return nil, fmt.Errorf("the backbone takes images of %d×%d pixels, the preprocessing produces %d×%d; choose a "+
			"preprocessing of that size", side, side, r.Side, r.Side)
	}
	if e.Dim() <= 0 || e.Batch() <= 0 {
		return nil, fmt.Errorf("the backbone states dimension %d and batch size %d", e.Dim(), e.Batch())
	}
	return e, nil
}

// process runs until the samples end or something fails.
func (r *run) process(samples iter.Seq[dataset.Sample], emit func(Item) error) error {
	defer context.AfterFunc(r.ctx, r.wake)()
	var group sync.WaitGroup
	group.Go(func() { r.feed(samples) })
	for range r.workers() {
		group.Go(func() {
			w := worker{run: r}
			if err := w.loop(); err != nil {
				r.fail(err)
			}
		})
	}
	complete := r.emitAll(emit)
	if !complete {
		r.fail(context.Canceled) // no effect if there is already a cause
	}
	group.Wait()
	if complete {
		return nil
	}
	return context.Cause(r.ctx)
}

func (r *run) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready.Broadcast()
}

// feed passes images to the workers as the window allows. Boxes of one image follow each
// other; only those are held back until the next sample.
func (r *run) feed(samples iter.Seq[dataset.Sample]) {
	defer close(r.jobs)
	var boxes []dataset.Sample // of one image
	for sample := range samples {
		if len(boxes) > 0 && (sample.Box == nil || sample.File() != boxes[0].File()) {
			if !r.start(boxes) {
				return
			}
			boxes = nil
		}
		if sample.Box != nil {
			boxes = append(boxes, sample)
		} else if !r.start([]dataset.Sample{sample}) {
			return
		}
	}
	if len(boxes) > 0 && !r.start(boxes) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.ready.Broadcast()
}

// start passes an image to the workers, or returns false if the run is over.
func (r *run) start(samples []dataset.Sample) bool {
	for range r.tokensOf(len(samples)) {
		select {
		case r.tokens <- struct{}{}:
		case <-r.ctx.Done():
			return false
		}
	}
	r.mu.Lock()
	j := job{seq: r.fed, samples: samples}
	r.fed++
	r.ring[j.seq%len(r.ring)] = finished{items: make([]Item, len(samples))}
	r.mu.Unlock()
	r.jobs <- j // never blocks: there are as many places as tokens
	return true
}

// tokensOf returns how many tokens an image with n samples takes.
func (r *run) tokensOf(n int) int { return min(n, cap(r.tokens)) }

// finish delivers the item of one sample.
func (r *run) finish(p place, item Item) {
	item.Sample = p.samples[p.at]
	r.mu.Lock()
	defer r.mu.Unlock()
	of := &r.ring[p.seq%len(r.ring)]
	of.items[p.at] = item
	of.n++
	if of.complete() {
		r.ready.Signal()
	}
}

// finishAll delivers the same item for all samples of a job.
func (r *run) finishAll(j job, item Item) {
	for at := range j.samples {
		r.finish(place{j, at}, item)
	}
}

// emitAll emits the items in order and reports whether all were emitted.
func (r *run) emitAll(emit func(Item) error) bool {
	for seq := 0; ; seq++ {
		items, more := r.await(seq)
		if !more {
			return r.completeAt(seq)
		}
		for _, item := range items {
			if err := emit(item); err != nil {
				r.fail(err)
				return false
			}
			r.count(item)
		}
		for range r.tokensOf(len(items)) {
			<-r.tokens
		}
	}
}

func (r *run) count(i Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Total++
	switch {
	case i.Err != nil:
		r.counts.Failed++
	case i.Cached:
		r.counts.Cached++
	default:
		r.counts.Inferred++
	}
}

// await waits for the items of seq and removes them from the ring.
func (r *run) await(seq int) ([]Item, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := &r.ring[seq%len(r.ring)]
	for r.ctx.Err() == nil && !of.complete() && !(r.ended && seq == r.fed) {
		r.ready.Wait()
	}
	if r.ctx.Err() != nil || !of.complete() {
		return nil, false
	}
	items := of.items
	*of = finished{}
	return items, true
}

func (r *run) completeAt(seq int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended && seq == r.fed
}

// claim reports whether p is to compute content h. If another place already does, p waits
// for its result without blocking the worker.
func (r *run) claim(h cache.Hash, p place) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting, flying := r.flights[h]
	if flying {
		r.flights[h] = append(waiting, p)
		return false
	}
	r.flights[h] = nil
	return true
}

// land delivers the result for content h to the place that claimed it and to those
// waiting for it.
func (r *run) land(p place, item Item) {
	r.mu.Lock()
	waiting := r.flights[item.Hash]
	delete(r.flights, item.Hash)
	r.mu.Unlock()
	r.finish(p, item)
	for _, other := range waiting {
		copied := item
		copied.Vector = append([]float32(nil), item.Vector...)
		copied.Cached = item.Err == nil
		r.finish(other, copied)
	}
}
