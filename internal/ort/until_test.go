package ort

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// TestEndlessNetwork: a network with a loop without an end is stopped by the context, or
// after the longest time that a run may take.
func TestEndlessNetwork(t *testing.T) {
	library, _, err := Locate("")
	if err != nil {
		testenv.Missing(t, "needs ONNX Runtime: run make setup: %v", err)
	}
	rt := must.Get(Open(library))(t)
	network := must.Get(os.ReadFile("../../extractor/testdata/endless.onnx"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancelled, limited := rt.Until(ctx), rt.Until(t.Context())
	in := must.Get(rt.NewTensor(1, 3, 4, 4))(t)
	open := func(rt *Runtime) (*Session, error) {
		return rt.NewSession(network, []string{"input"}, []string{"features"}, CPU)
	}
	for _, c := range []struct {
		rt    *Runtime
		begin func()
		want  func(error) bool
	}{
		{limited, func() {}, func(err error) bool { return strings.Contains(err.Error(), "no result after 1ms") }},
		{cancelled, func() { go cancel() }, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		s, err := open(c.rt)
		if err != nil {
			t.Fatal(err)
		}
		if c.rt == limited {
			limited.longest = time.Millisecond
		}
		c.begin()
		for range 2 { // while it runs, and before it does
			if _, err = s.Shape(in); err == nil || !c.want(err) {
				t.Errorf("%v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for range 20 { // one that is opened all the same is closed
		if s, err := open(cancelled); err == nil {
			_ = s.Close()
		} else if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}
