package embed

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed/cache"
)

// A job is one sample under way; seq is its place in the order.
type job struct {
	seq    int
	sample dataset.Sample
}

// A run is the state that the feeder, the workers and the emitter of one
// Stream.Run share.
//
// The feeder takes a token for each sample and the emitter gives it back, so at
// most a window of samples is under way. Items wait in a ring until it is their
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
	fed    int // samples taken in
	ended  bool
	counts Counts
	// flights lists, for content being computed, the jobs that wait for it.
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
		return nil, fmt.Errorf("the backbone takes images of %d×%d pixels, the preprocessing makes %d×%d; choose a preprocessing of that size",
			side, side, r.Side, r.Side)
	}
	if e.Dim() <= 0 || e.Batch() <= 0 {
		return nil, fmt.Errorf("the backbone states dimension %d and batch size %d", e.Dim(), e.Batch())
	}
	return e, nil
}

// process runs everything to the end, or to the first failure.
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
		r.fail(context.Canceled) // no effect: a cause is there already
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

// feed hands out the samples as the window allows.
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

// finish hands in the item of a job.
func (r *run) finish(j job, item Item) {
	item.Sample = j.sample
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := j.seq % len(r.items)
	r.items[slot], r.done[slot] = item, true
	r.ready.Signal()
}

// emitAll emits the items in order and says whether all were.
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

// await takes the item of seq out of the ring.
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

// claim makes j the one that computes content h. When another job does already,
// j waits for its result, without blocking the worker, and claim says false.
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

// land hands in the result for content h: to the job that claimed it and to
// those that waited.
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
