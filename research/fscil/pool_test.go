package fscil

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// folder returns classes of n images each.
func folder(classes, n int) []dataset.Sample {
	var samples []dataset.Sample
	for c := range classes {
		for i := range n {
			samples = append(samples,
				dataset.Sample{Path: fmt.Sprintf("c%02d/%02d.jpg", c, i), Label: fmt.Sprintf("c%02d", c)})
		}
	}
	return samples
}

func TestFewShotDraw(t *testing.T) {
	pool := must.Get(NewPool(folder(11, 12), 4, nil))(t)
	p := must.Get(pool.FewShot(4, 3, 5, 1, 0))(t)
	var sizes [][3]int
	for s, session := range p.sessions {
		sizes = append(sizes, [3]int{len(p.Classes(s)), len(session.Train), len(session.Test)})
	}
	if want := [][3]int{{4, 32, 16}, {3, 15, 12}, {3, 15, 12}, {1, 5, 4}}; !reflect.DeepEqual(sizes, want) {
		t.Errorf("classes, training and test images %v, want %v", sizes, want)
	}
	draw := func(samples []dataset.Sample, seed uint64, run int) []Sample {
		pool := must.Get(NewPool(samples, 4, nil))(t)
		p := must.Get(pool.FewShot(4, 3, 5, seed, run))(t)
		return p.Samples()
	}
	backwards := folder(11, 12)
	slices.Reverse(backwards)
	if !reflect.DeepEqual(draw(backwards, 1, 0), p.Samples()) {
		t.Error("the order of the images changes the draw")
	}
	if reflect.DeepEqual(draw(backwards, 1, 1), p.Samples()) || reflect.DeepEqual(draw(backwards, 2, 0), p.Samples()) {
		t.Error("another run or seed gives the same draw")
	}
}

func TestClassIncrementalDraw(t *testing.T) {
	var samples []dataset.Sample
	for _, s := range folder(13, 3) {
		samples = append(samples, dataset.Sample{Path: "train/" + s.Path, Label: "train"},
			dataset.Sample{Path: "val/" + s.Path, Label: "val"})
	}
	pool := must.Get(NewPool(samples, 0, nil))(t)
	p := must.Get(pool.ClassIncremental(4, 0, 0))(t)
	var classes []int
	for s := range p.Sessions() {
		classes = append(classes, len(p.Classes(s)))
		if n := len(p.Classes(s)); len(p.sessions[s].Train) != 3*n || len(p.sessions[s].Test) != 3*n {
			t.Errorf("session %d: %d training and %d test images of %d classes", s+1, len(p.sessions[s].Train),
				len(p.sessions[s].Test), n)
		}
	}
	if want := []int{7, 1, 2, 1, 2}; !reflect.DeepEqual(classes, want) {
		t.Errorf("classes %v, want %v", classes, want)
	}
	for _, x := range p.sessions[0].Train {
		if !strings.HasPrefix(x.Path, "train/") || !strings.HasPrefix(x.Class, "c") {
			t.Errorf("training image %v", x)
		}
	}
}

// TestCopiesAreDrawnOnce: copies of an image cannot be in both train and test.
func TestCopiesAreDrawnOnce(t *testing.T) {
	samples := folder(4, 8)
	same := func(i int) [32]byte { return [32]byte{byte(i / 2)} } // pairs
	pool := must.Get(NewPool(samples, 2, same))(t)
	p := must.Get(pool.FewShot(2, 1, 2, 0, 0))(t)
	seen := map[string]bool{}
	for _, x := range p.Samples() {
		i := slices.IndexFunc(samples, func(s dataset.Sample) bool { return s.Path == x.Path })
		if i%2 == 1 {
			t.Errorf("%s is a copy of %s", x.Path, samples[i-1].Path)
		}
		seen[x.Path] = true
	}
	if len(seen) != 2*4+2*4 {
		t.Errorf("%d images were drawn", len(seen))
	}
}

func TestDrawMistakes(t *testing.T) {
	for want, draw := range map[string]func() error{
		"fscil.base_classes": func() error { return fewShot(folder(4, 8), 2, 4, 1, 1) },
		"fewer than 7 shots": func() error { return fewShot(folder(4, 8), 2, 2, 1, 7) },
		"at least 1":         func() error { return fewShot(folder(4, 8), 2, 2, 0, 1) },
		"none to learn":      func() error { return fewShot(folder(4, 8), 8, 2, 1, 1) },
		"has no class": func() error {
			return fewShot([]dataset.Sample{{Path: "x.jpg"}, {Path: "y.jpg"}}, 1, 1, 1, 1)
		},
		"fscil.test_per_class to hold": func() error { return fewShot(folder(4, 8), 0, 2, 1, 1) },
		"has no test images": func() error {
			return fewShot([]dataset.Sample{{Path: "1", Label: "a", Split: "train"}}, 0, 1, 1, 1)
		},
		"fscil.steps": func() error {
			pool, err := NewPool(folder(4, 8), 1, nil)
			if err == nil {
				_, err = pool.ClassIncremental(3, 0, 0)
			}
			return err
		},
	} {
		if err := draw(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func fewShot(samples []dataset.Sample, testPerClass, base, ways, shots int) error {
	pool, err := NewPool(samples, testPerClass, nil)
	if err == nil {
		_, err = pool.FewShot(base, ways, shots, 0, 0)
	}
	return err
}

func TestConfigNamesTheField(t *testing.T) {
	must.Do(t, DefaultConfig().Validate())
	for want, change := range map[string]func(*Config){
		"dataset:": func(c *Config) { c.Dataset = "" }, "protocol:": func(c *Config) { c.Protocol = "fewshot" },
		"track:": func(c *Config) { c.Track = "imagenet" }, "strip:": func(c *Config) { c.Strip = -2 },
		"ways:": func(c *Config) { c.Ways = 0 }, "runs: 0": func(c *Config) { c.Runs = 0 },
		"methods:": func(c *Config) { c.Methods = []string{"a", "a"} },
		"lists:":   func(c *Config) { c.Protocol, c.Lists = FewShotDrawn, "x" },
	} {
		c := DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestDrawnSessionsHaveANameOfTheirOwn(t *testing.T) {
	for protocol, want := range map[string]string{Official: "cub200", FewShotDrawn: "cub200_drawn",
		Incremental: "cub200_7steps"} {
		if got := (Config{Dataset: "cub200", Protocol: protocol, Steps: 7}).Benchmark(); got != want {
			t.Errorf("%s: %s, want %s", protocol, got, want)
		}
	}
}
