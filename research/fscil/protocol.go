package fscil

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// A Sample is one image of a protocol.
type Sample struct {
	Path, Class string
}

// A Session holds the images learned together, and the test images of the
// classes it brings.
type Session struct {
	Train, Test []Sample
}

// A Protocol is a sequence of sessions without leaks. It is immutable.
type Protocol struct {
	sessions []Session
	classes  [][]string // of each session, sorted
	given    bool       // published or recorded, not drawn here
}

// New checks drawn sessions and returns them as a Protocol. A leak is a
// *LeakError.
func New(sessions []Session) (*Protocol, error) {
	if len(sessions) == 0 {
		return nil, errors.New("protocol: no sessions")
	}
	p := &Protocol{}
	for i, s := range sessions {
		if len(s.Train) == 0 || len(s.Test) == 0 {
			return nil, fmt.Errorf("protocol: session %d has %d training and %d test images; both are needed", i+1,
				len(s.Train), len(s.Test))
		}
		p.sessions = append(p.sessions, Session{Train: slices.Clone(s.Train), Test: slices.Clone(s.Test)})
		classes := map[string]bool{}
		for _, x := range s.Train {
			classes[x.Class] = true
		}
		p.classes = append(p.classes, slices.Sorted(maps.Keys(classes)))
	}
	return p, p.check()
}

// given is New for published sessions.
func given(sessions []Session) (*Protocol, error) {
	p, err := New(sessions)
	if err != nil {
		return nil, err
	}
	p.given = true
	return p, nil
}

// Sessions returns the number of sessions.
func (p *Protocol) Sessions() int { return len(p.sessions) }

// Classes returns the sorted classes that session s brings (0 is the base
// session).
func (p *Protocol) Classes(s int) []string { return slices.Clone(p.classes[s]) }

// Samples returns every image, session by session, training before test.
func (p *Protocol) Samples() []Sample {
	var all []Sample
	for x := range p.all() {
		all = append(all, x)
	}
	return all
}

// MarshalJSON writes the sessions, which define the protocol.
func (p *Protocol) MarshalJSON() ([]byte, error) { return json.Marshal(p.sessions) }

// Recorded reads the sessions from the columns split ("train" or "test") and
// session (1, 2, …) of a feature folder. Rows without a session are ignored.
func Recorded(samples []dataset.Sample) (*Protocol, error) {
	rows := map[int]Session{}
	for i, x := range samples {
		if x.Session == "" {
			continue
		}
		n, err := strconv.Atoi(x.Session)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("samples.csv, row %d (%s): session %q is not 1, 2, …", i+1, x.Path, x.Session)
		}
		s, sample := rows[n], Sample{Path: x.Path, Class: dataset.EscapePath(x.Label)}
		switch strings.ToLower(x.Split) {
		case splitTrain:
			s.Train = append(s.Train, sample)
		case splitTest:
			s.Test = append(s.Test, sample)
		default:
			return nil, fmt.Errorf("samples.csv, row %d: %s: split %q is neither train nor test", i+1, x.Path, x.Split)
		}
		rows[n] = s
	}
	if len(rows) == 0 {
		return nil, errors.New("samples.csv has no sessions (columns split and session): give the official lists " +
			"with --lists, or another fscil.protocol")
	}
	var sessions []Session
	for i, n := range slices.Sorted(maps.Keys(rows)) {
		if n != i+1 {
			return nil, fmt.Errorf("samples.csv has a session %d but no session %d", n, i+1)
		}
		sessions = append(sessions, rows[n])
	}
	return given(sessions)
}
