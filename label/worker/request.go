package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-90d10d51/pipeline/dataset"
)

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

// A reader yields the lines of a stream. Its goroutine ends only with the
// stream, so next also watches the context.
type reader struct {
	lines chan []byte
	err   error // after lines was closed
}

func newReader(ctx context.Context, in io.Reader) *reader {
	r := &reader{lines: make(chan []byte)}
	go func() {
		defer close(r.lines)
		scan := bufio.NewScanner(in)
		scan.Buffer(make([]byte, 0, 1<<16), maxLineBytes)
		for scan.Scan() {
			select {
			case r.lines <- bytes.Clone(scan.Bytes()):
			case <-ctx.Done():
				return
			}
		}
		if err := scan.Err(); err != nil {
			r.err = fmt.Errorf("read requests: %w (the longest line is %d bytes)", err, maxLineBytes)
		}
	}()
	return r
}

// next returns the next line that is not empty; false at the end.
func (r *reader) next(ctx context.Context) ([]byte, bool) {
	for {
		select {
		case line, more := <-r.lines:
			if !more || len(line) > 0 {
				return line, more
			}
		case <-ctx.Done():
			return nil, false
		}
	}
}
