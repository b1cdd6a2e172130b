package model

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embed"
)

// A model that learns the statistics of others is the one that learned all
// samples: new classes, more of old ones, and what it knows once.
func TestLearnStatsIsLearn(t *testing.T) {
	base, more := crowd(1, 20, "ant", "bee"), crowd(2, 4, "bee", "cat", "dog")
	whole := collected(t, more, seq(more.X.Rows))
	merged(t, whole, collected(t, base, []int{0, 21})) // an ant alone: thin
	for _, method := range []string{"ncm", "plda", "ppca"} {
		set := settings(method)
		set.Temperature.Temperature, set.Heads.NCM.Temperature = 1, 0.05
		var both [2]*Model
		for i := range both {
			m, _, err := Train(context.Background(), set, base)
			if err != nil {
				t.Fatal(err)
			}
			both[i] = mustLoad(t, savedAs(t, m)) // the statistics are in the side file
		}
		learn(t, both[1], more)
		for range 2 {
			o, err := both[0].LearnStats(context.Background(), whole)
			if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			if o.Changed() && (o.Added != 12 || o.AlreadyKnown != 2 || len(o.NewClasses) != 2 || len(o.MoreOf) != 1) || !o.Changed() && o.AlreadyKnown != 14 {
				t.Errorf("%s: %+v", method, o)
			}
		}
		p, q := logProb(t, mustLoad(t, savedAs(t, both[0])), more), logProb(t, both[1], more)
		for i := range q { // statistics are of unit vectors rounded to float32
			if math.Abs(p[i]-q[i]) > 1e-4*max(1, math.Abs(q[i])) {
				t.Fatalf("%s: log-probability %v, want %v", method, p[i], q[i])
			}
		}
		if o := learn(t, both[0], more); o.Changed() {
			t.Errorf("%s: the images behind the statistics are learned again: %+v", method, o)
		}
	}
}

func TestLearnStatsRefuses(t *testing.T) {
	ctx, b := context.Background(), crowd(1, 20, "ant", "bee")
	m, _, err := Train(ctx, settings("plda"), b)
	if err != nil {
		t.Fatal(err)
	}
	part, rest := collected(t, b, seq(9)), crowd(3, 9, "ant", "bee")
	merged(t, part, collected(t, rest, seq(rest.X.Rows)))
	raw := collected(t, rest, seq(4))
	raw.Unit = false
	for name, c := range map[string]struct {
		stats *Stats
		want  error
		says  string
	}{
		"half of it known": {part, ErrCountedTwice, "--except"},
		"dimension":        {NewStats(statsDim+1, true), embed.ErrOtherBackbone, "7 dimensions"},
		"not of length 1":  {raw, nil, "without --raw"},
	} {
		_, err := m.LearnStats(ctx, c.stats)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(m.Sessions) != 1 || m.SampleCount() != 40 {
		t.Errorf("%d sessions, %d samples", len(m.Sessions), m.SampleCount())
	}
	if o, err := m.LearnStats(ctx, NewStats(statsDim, true)); err != nil || o.Changed() {
		t.Errorf("nothing to learn: %+v, %v", o, err)
	}
	set := settings("plda")
	set.DKL = new(dkl.DefaultTraining())
	behind, err := set.head()
	if err != nil {
		t.Fatal(err)
	}
	if err := part.teach(ctx, "plda", behind); !errors.Is(err, classifier.ErrUnsupported) || !strings.Contains(err.Error(), "projected") {
		t.Errorf("behind a projection: %v", err)
	}
}
