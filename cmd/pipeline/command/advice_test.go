package command_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model/advice"
)

// TestAdvice: two folders of one kind of animal may be one class, well separated
// classes may not, and a single photo cannot be checked.
func TestAdvice(t *testing.T) {
	l := commandtest.New(t)
	model := l.Path("m.model")
	l.Must("train", "--features", animals(l), "--out", model)
	said := l.Must("inspect", model, "--advice").Stdout
	for _, words := range []string{"may be one   (hare and rabbit|rabbit and hare): of their left-out photos",
		"more photos  owl: nothing can be checked with a single photo"} {
		if !regexp.MustCompile(words).MatchString(said) {
			t.Errorf("no %q in:\n%s", words, said)
		}
	}
	if strings.Contains(said, "dog") || strings.Count(said, "may be one") != 1 {
		t.Errorf("advice on a class that has no need of it:\n%s", said)
	}
	var got struct {
		Classes []struct {
			Class   string
			Samples int
		}
		Advice advice.Advice
	}
	must.Do(t, json.Unmarshal([]byte(l.Must("inspect", model, "--json").Stdout), &got))
	if len(got.Classes) != 5 || got.Classes[0].Class == "" || got.Classes[0].Samples == 0 {
		t.Errorf("classes: %+v", got.Classes)
	}
	if a := got.Advice; len(a.MayBeOne) != 1 || len(a.Single) != 1 || a.LeftOut == 0 || a.Accuracy <= 0.5 {
		t.Errorf("advice: %+v", a)
	}
	l.Refused(command.ExitUsage, []string{"--tree", "--advice"}, "inspect", model, "--tree", l.Path("t.svg"),
		"--advice")
}

// animals writes a feature folder: hares and rabbits around one centre, dogs and
// foxes far away, one owl.
func animals(l *commandtest.Bed) string {
	l.Helper()
	out := must.Get(featdir.NewWriter(l.Path("animals"), embedding.Provenance{Dim: 8}))(l)
	defer out.Abort()
	rng := rand.New(rand.NewPCG(3, 1))
	var centre []float32
	for _, c := range []struct {
		class string
		n     int
	}{{"hare", 10}, {"rabbit", 10}, {"dog", 10}, {"fox", 10}, {"owl", 1}} {
		if c.class != "rabbit" {
			centre = commandtest.Cloud(rng, make([]float32, 8), 1)
		}
		for i := range c.n {
			must.Do(l, out.Write(dataset.Sample{Path: fmt.Sprintf("%s/%d.jpg", c.class, i), Label: c.class},
				commandtest.Cloud(rng, centre, 0.1)))
		}
	}
	must.Do(l, out.Close())
	return l.Path("animals")
}
