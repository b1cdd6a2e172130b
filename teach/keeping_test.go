//go:build unix

package teach

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestProbe: a journal without room is found without a decision, and again when it has room; what
// a probe writes is never left, also where a write leaves what cannot be taken away at once.
func TestProbe(t *testing.T) {
	if !testenv.Alone(t) {
		return
	}
	file, _, _ := written(t)
	before := must.Get(os.ReadFile(file))(t)
	j, err := openJournal(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{record: record{journal: j, base: &base{}}}
	unkept := func(want bool) {
		t.Helper()
		if err := j.probe(); refused(err, Unkept) != want || (s.Unkept() != nil) != want || (err != nil) != want {
			t.Fatalf("%v, %v, want one: %t", err, s.Unkept(), want)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, before) {
			t.Fatalf("the journal has %d bytes, not %d, %v", len(now), len(before), err)
		}
	}
	unkept(false)
	end := testenv.FullDisk(t, uint64(len(before))+leastProbe/2)
	unkept(true)
	if j.keeping.failed != 0 {
		t.Error("a probe is counted as a decision")
	}
	end()
	unkept(false)

	// A decision larger than a probe is tried at its size.
	end = testenv.FullDisk(t, uint64(len(before))+2*leastProbe)
	large := Line{Decision: Decision{Do: Label, Class: "fox", Images: make([]ID, leastProbe/16)}}
	if _, err := j.append(large); !refused(err, Unkept) {
		t.Fatal(err)
	}
	unkept(true)
	end()
	unkept(false)

	// A disk that takes nothing away leaves half a line, after which nothing is written.
	must.Get(j.file.WriteString("half a line"))(t)
	j.keeping.torn, j.keeping.last = true, refuse(Unkept, "full")
	if err := j.intact(); !refused(err, Unkept) {
		t.Errorf("with half a line at its end: %v", err)
	}
	must.Get(j.append(Line{Decision: Decision{Do: Label, Class: "fox", Images: []ID{{2}}}}))(t)
	if s.Unkept() != nil || time.Since(j.keeping.at) > time.Hour {
		t.Errorf("%v after a decision was kept", s.Unkept())
	}
	n := len(j.lines)
	must.Do(t, j.Close())
	if j, err = openJournal(file); err != nil || len(j.lines) != n || j.Dropped != "" {
		t.Fatalf("%v, %d lines, want %d, dropped %q", err, len(j.lines), n, j.Dropped)
	}
	j.Close()
}
