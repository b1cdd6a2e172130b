package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
)

// An Embedder turns samples into embeddings and emits them in input order.
type Embedder interface {
	EmbedSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample], emit func(embed.Item) error) (embed.Counts, error)
}

// batchAnswers is the maximum number of answers computed together.
const batchAnswers = 64

// requestsWaiting bounds the lines read and not yet answered, besides those
// that the embedder itself holds.
const requestsWaiting = 1024

// A Worker answers requests until its input ends.
type Worker struct {
	Embedder Embedder
	// Root is the folder that relative paths are resolved against.
	Root string
	In   io.Reader
	Out  io.Writer
	// Answer returns the answers, as values for encoding/json, to at most 64
	// items that have embeddings, in order.
	Answer func(items []embed.Item) ([]any, error)
}

// An Outcome counts the answers.
type Outcome struct{ Answered, Failed int }

// Run works until the input ends, ctx is cancelled, or writing the output
// fails.
func (w Worker) Run(ctx context.Context) (Outcome, error) {
	group, ctx := errgroup.WithContext(ctx)
	r := run{Worker: w, requests: make(chan request, requestsWaiting), done: make(chan finished, batchAnswers), out: bufio.NewWriter(w.Out)}
	in := newReader(ctx, w.In)
	group.Go(func() error {
		defer close(r.done)
		_, err := w.Embedder.EmbedSeq(ctx, w.Root, r.samples(ctx, in), func(item embed.Item) error { return r.emit(ctx, item) })
		return err
	})
	group.Go(r.answer)
	if err := group.Wait(); err != nil {
		return r.outcome, err
	}
	return r.outcome, in.err
}

type run struct {
	Worker
	requests chan request // in the embedder, oldest first
	done     chan finished
	out      *bufio.Writer
	outcome  Outcome
}

// finished is a request with the embedder's result.
type finished struct {
	request
	item embed.Item
}

func (r *run) samples(ctx context.Context, in *reader) iter.Seq[dataset.Sample] {
	return func(yield func(dataset.Sample) bool) {
		for {
			var q request
			more := false
			select {
			case q, more = <-in.requests:
			case <-ctx.Done():
			}
			if !more {
				return
			}
			select {
			case r.requests <- q:
			case <-ctx.Done():
				return
			}
			if !yield(q.sample()) {
				return
			}
		}
	}
}

func (r *run) emit(ctx context.Context, item embed.Item) error {
	f := finished{<-r.requests, item} // queued before its sample was yielded
	if f.err != nil {
		f.item.Err = f.err
	}
	select {
	case r.done <- f:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answer takes the finished requests, up to a batch, without waiting for more.
func (r *run) answer() error {
	for first := range r.done {
		batch := []finished{first}
	more:
		for len(batch) < batchAnswers {
			select {
			case f, open := <-r.done:
				if !open {
					break more
				}
				batch = append(batch, f)
			default:
				break more
			}
		}
		if err := r.reply(batch); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) reply(batch []finished) error {
	var fine []embed.Item
	for _, f := range batch {
		if f.item.Err == nil {
			fine = append(fine, f.item)
		}
	}
	answers, err := r.Answer(fine)
	if err != nil {
		return err
	}
	for _, f := range batch {
		var answer any
		if f.item.Err == nil {
			answer, answers = answers[0], answers[1:]
		}
		if err == nil {
			err = r.write(f, answer)
		}
	}
	if err == nil {
		err = r.out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	return nil
}

// write puts the id, if there is one, before the answer's own fields.
func (r *run) write(f finished, answer any) error {
	r.outcome.Answered++
	if f.item.Err != nil {
		r.outcome.Failed++
		answer = failure{Path: dataset.EscapePath(f.path), Error: f.item.Err.Error()}
	}
	text, err := plainJSON(answer)
	if err != nil {
		return err
	}
	if f.id != nil {
		id, err := plainJSON(f.id)
		if err != nil {
			return err
		}
		head := append([]byte(`{"id":`), bytes.TrimSuffix(id, []byte("\n"))...)
		text = append(append(head, ','), text[1:]...)
	}
	_, err = r.out.Write(text)
	return err
}

// plainJSON encodes v as a line of JSON without HTML escaping, as in the result
// files.
func plainJSON(v any) ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return line.Bytes(), err
}

type failure struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}
