package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"golang.org/x/sync/errgroup"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
)

// An Embedder turns samples into embeddings and emits them in input order.
type Embedder interface {
	EmbedSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample],
		emit func(embedding.Item) error) (embedding.Counts, error)
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
	Answer func(items []embedding.Item) ([]any, error)
}

// An Outcome counts the answers.
type Outcome struct{ Answered, Failed int }

// Run works until the input ends, ctx is cancelled, or writing the output
// fails.
func (w Worker) Run(ctx context.Context) (Outcome, error) {
	group, ctx := errgroup.WithContext(ctx)
	r := run{Worker: w, requests: make(chan request, requestsWaiting), done: make(chan finished, batchAnswers),
		out: bufio.NewWriter(w.Out)}
	in := newReader(ctx, w.In)
	group.Go(func() error {
		defer close(r.done)
		_, err := w.Embedder.EmbedSeq(ctx, w.Root, r.samples(ctx, in),
			func(item embedding.Item) error { return r.emit(ctx, item) })
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
	item embedding.Item
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

func (r *run) emit(ctx context.Context, item embedding.Item) error {
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
	var fine []embedding.Item
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

// maxLineBytes is the maximum line length; a path has at most a few thousand
// bytes.
const maxLineBytes = 1 << 20

// A request is one line of the input.
type request struct {
	path string
	id   json.RawMessage
	err  error // why the line is malformed
}

// sample returns the sample to embed. A line without a path gets a name that no
// file can have, so that its answer comes in order.
func (r request) sample() dataset.Sample {
	if r.err != nil {
		return dataset.Sample{Path: "\x00"}
	}
	return dataset.Sample{Path: r.path}
}

// parse reads one line.
func parse(line []byte) request {
	if len(line) == 0 || line[0] != '{' {
		return request{path: string(line)}
	}
	var fields struct {
		Path *string         `json:"path"`
		ID   json.RawMessage `json:"id"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&fields)
	switch {
	case err != nil:
		return request{id: fields.ID, err: fmt.Errorf(`request: %w; want a path, or {"path": …, "id": …}`, err)}
	case d.More():
		return request{id: fields.ID, err: errors.New("request: more than one JSON value on the line")}
	case fields.Path == nil || *fields.Path == "":
		return request{id: fields.ID, err: errors.New(`request: it has no "path"`)}
	}
	return request{path: dataset.UnescapePath(*fields.Path), id: fields.ID}
}

// A reader yields the requests of a stream. Its goroutine ends only with the
// stream, so the receiver also watches the context.
type reader struct {
	requests chan request
	err      error // after requests was closed
}

func newReader(ctx context.Context, in io.Reader) *reader {
	r := &reader{requests: make(chan request)}
	go func() {
		defer close(r.requests)
		lines := bufio.NewReaderSize(in, 1<<16)
		for {
			q, more, err := readRequest(lines)
			if more {
				select {
				case r.requests <- q:
				case <-ctx.Done():
					return
				}
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				r.err = fmt.Errorf("read requests: %w", err)
				return
			}
		}
	}()
	return r
}

// readRequest reads one line, of which it keeps no more than maxLineBytes; false
// if it is empty.
func readRequest(in *bufio.Reader) (q request, more bool, err error) {
	var line []byte
	for err = bufio.ErrBufferFull; err == bufio.ErrBufferFull; {
		var part []byte
		part, err = in.ReadSlice('\n')
		if len(line) <= maxLineBytes {
			line = append(line, part...)
		}
	}
	if len(line) > maxLineBytes {
		return request{err: fmt.Errorf("request: the line has more than %d bytes", maxLineBytes)}, true, err
	}
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	return parse(line), len(line) > 0, err
}
