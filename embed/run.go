package embed

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed/cache"
)

// A job is one sample in progress; seq is its position in the order.
type job struct {
	seq    int
	sample dataset.Sample
}

// A run is the state shared by the feeder, the workers and the emitter of one
// Stream.Run.
//
// The feeder takes a token for each sample and the emitter returns it, so at
// most one window of samples is in progress. Items wait in a ring for their
// turn.
type run struct {
	*Stream
	ctx    context.Context
	fail   context.CancelCauseFunc // ends the run; the first cause counts
	root   string
	open   func() (Extractor, error) // once
	tokens chan struct{}
	jobs   chan job

	mu     sync.Mutex
	ready  sync.Cond // the item that is next in order is there, or the run is over
	items  []Item    // ring: the item of seq is at seq mod window
	done   []bool
	fed    int // samples accepted
	ended  bool
	counts Counts
	// flights lists the jobs that wait for each content being computed.
	flights map[cache.Hash][]job
}

func newRun(ctx context.Context, s *Stream, root string) *run {
	window := s.window()
	r := &run{
		Stream: s, root: root, flights: map[cache.Hash][]job{},
		tokens: make(chan struct{}, window), jobs: make(chan job, window),
		items: make([]Item, window), done: make([]bool, window),
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
	if side := e.Side(); side != 0 && side != r.Side {
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

// feed passes samples to the workers as the window allows.
func (r *run) feed(samples iter.Seq[dataset.Sample]) {
	defer close(r.jobs)
	for sample := range samples {
		select {
		case r.tokens <- struct{}{}:
		case <-r.ctx.Done():
			return
		}
		r.mu.Lock()
		j := job{seq: r.fed, sample: sample}
		r.fed++
		r.mu.Unlock()
		r.jobs <- j // never blocks: there are as many places as tokens
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.ready.Broadcast()
}

// finish delivers the item of a job.
func (r *run) finish(j job, item Item) {
	item.Sample = j.sample
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := j.seq % len(r.items)
	r.items[slot], r.done[slot] = item, true
	r.ready.Signal()
}

// emitAll emits the items in order and reports whether all were emitted.
func (r *run) emitAll(emit func(Item) error) bool {
	for seq := 0; ; seq++ {
		item, more := r.await(seq)
		if !more {
			return r.completeAt(seq)
		}
		if err := emit(item); err != nil {
			r.fail(err)
			return false
		}
		r.count(item)
		<-r.tokens
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

// await waits for the item of seq and removes it from the ring.
func (r *run) await(seq int) (Item, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := seq % len(r.items)
	for r.ctx.Err() == nil && !r.done[slot] && !(r.ended && seq == r.fed) {
		r.ready.Wait()
	}
	if r.ctx.Err() != nil || !r.done[slot] {
		return Item{}, false
	}
	item := r.items[slot]
	r.items[slot], r.done[slot] = Item{}, false
	return item, true
}

func (r *run) completeAt(seq int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended && seq == r.fed
}

// claim reports whether j is to compute content h. If another job already does,
// j waits for its result without blocking the worker.
func (r *run) claim(h cache.Hash, j job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting, flying := r.flights[h]
	if flying {
		r.flights[h] = append(waiting, j)
		return false
	}
	r.flights[h] = nil
	return true
}

// land delivers the result for content h to the job that claimed it and to
// those waiting for it.
func (r *run) land(j job, item Item) {
	r.mu.Lock()
	waiting := r.flights[item.Hash]
	delete(r.flights, item.Hash)
	r.mu.Unlock()
	r.finish(j, item)
	for _, other := range waiting {
		copied := item
		copied.Vector = append([]float32(nil), item.Vector...)
		copied.Cached = item.Err == nil
		r.finish(other, copied)
	}
}
