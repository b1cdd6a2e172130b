package split

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/label"
)

// window is the number of photos among which like ones are looked for.
const window = 1 << 15

// A Plan says which part a photo is in.
type Plan struct {
	shares Shares
	part   map[key]uint8
	photos []int // by part
	groups int
	// whole are the classes of several photos that are in one part.
	whole []string
}

// A key is the beginning of a content hash.
type key [16]byte

func keyOf(content [sha256.Size]byte) key { return key(content[:len(key{})]) }

// Deal divides the photos of a pass, whose sinks it replaces.
func Deal(ctx context.Context, pass label.Pass, shares Shares, seed uint64) (*Plan, error) {
	d := newDealer(window)
	pass.Sinks = []label.Sink{d}
	if _, err := pass.Run(ctx); err != nil {
		return nil, err
	}
	return d.plan(shares, seed), nil
}

// Of returns the name of the part that a file is in. One that was not there when the plan
// was made is in the first.
func (p *Plan) Of(content [sha256.Size]byte) string { return p.shares.names()[p.part[keyOf(content)]] }

// Names returns the names of the parts.
func (p *Plan) Names() []string { return p.shares.names() }

// String says what was done.
func (p *Plan) String() string {
	var parts []string
	for i, name := range p.shares.names() {
		parts = append(parts, fmt.Sprintf("%d %s", p.photos[i], name))
	}
	text := "split into " + strings.Join(parts, ", ")
	if p.groups > 0 {
		text += fmt.Sprintf("; %d groups of copies, events and like photos are each in one part", p.groups)
	}
	if n := len(p.whole); n > 0 {
		const most = 5
		are := "classes are"
		if n == 1 {
			are = "class is"
		}
		text += fmt.Sprintf("; %d %s in one part only, being too alike or too few: %s", n, are,
			strings.Join(p.whole[:min(n, most)], ", "))
		if n > most {
			text += ", …"
		}
	}
	return text
}
