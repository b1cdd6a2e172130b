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
