package dataset

import (
	"bufio"
	"fmt"
	"io"
)

// mostRecord bounds the bytes of a value of a JSON stream that is decoded as a whole.
const mostRecord = 64 << 20

// An allowance is a reader that returns only so many bytes, to bound what a decoder
// collects for one value.
type allowance struct {
	r     io.Reader
	bytes int
}

func (a *allowance) Read(b []byte) (int, error) {
	if a.bytes <= 0 {
		return 0, fmt.Errorf("a record of more than %d MiB", mostRecord>>20)
	}
	n, err := a.r.Read(b[:min(len(b), a.bytes)])
	a.bytes -= n
	return n, err
}

// plainNumbers writes null for NaN and Infinity, which Python writes and JSON does not know.
type plainNumbers struct {
	r       *bufio.Reader
	text    bool // within a string
	escaped bool
	pending string
}

func (p *plainNumbers) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if p.pending != "" {
			copied := copy(b[n:], p.pending)
			p.pending = p.pending[copied:]
			n += copied
			continue
		}
		if n > 0 && p.r.Buffered() == 0 {
			return n, nil
		}
		c, err := p.r.ReadByte()
		if err != nil {
			return n, err
		}
		if p.replaces(c) {
			continue
		}
		b[n] = c
		n++
	}
	return n, nil
}

// replaces reads the rest of a word that begins with c, if it is one that JSON does not
// know.
func (p *plainNumbers) replaces(c byte) bool {
	if p.text {
		p.text = p.escaped || c != '"'
		p.escaped = !p.escaped && c == '\\'
		return false
	}
	p.text = c == '"'
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity"} {
		if c != word[0] {
			continue
		}
		if rest, _ := p.r.Peek(len(word) - 1); string(rest) == word[1:] {
			_, _ = p.r.Discard(len(rest)) // they are in the buffer
			p.pending = "null"
			return true
		}
	}
	return false
}
