package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/temperature"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/fscil"
	"github.com/seed-90d10d51/pipeline/research/fscil/runner"
)

// features writes a feature folder of six classes with nine images each, the last
// three of each to test on: four classes of session 1, then one class per session.
func features(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clouds")
	out := must.Get(featdir.NewWriter(dir, embedding.Provenance{Dim: 4}))(t)
	defer out.Abort()
	rng := rand.New(rand.NewPCG(1, 2))
	for class := range 6 {
		for i := range 9 {
			s := dataset.Sample{
				Path: fmt.Sprintf("c%d/%d.jpg", class, i), Label: fmt.Sprintf("c%d", class), Split: "train",
				Session: fmt.Sprint(max(1, class-2)),
			}
			if i >= 6 {
				s.Split = "test"
			}
			row := make([]float32, 4)
			for j := range row {
				row[j] = float32(rng.NormFloat64())
			}
			row[class%4] += float32(4 + 3*(class/4))
			must.Do(t, out.Write(s, row))
		}
	}
	must.Do(t, out.Close())
	return dir
}

// newRunner returns a runner over features for the given methods, and its log.
func newRunner(t *testing.T, methods ...string) (runner.Runner, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	logger := slog.New(slog.NewTextHandler(log, nil))
	sessions := fscil.DefaultConfig()
	sessions.Methods = methods
	return runner.Runner{
		Sessions: sessions, Method: "ncm",
		Env: experiment.Env{Dir: t.TempDir(), Features: features(t), Heads: method.DefaultConfig(),
			Note: logger.Info},
		Temperature: temperature.Config{Temperature: 1}, Training: dkl.DefaultTraining(),
		Log: logger, Say: func(string, ...any) {},
	}, log
}

// run takes the methods of r through the sessions and returns the table of the results.
func run(t *testing.T, r runner.Runner) string {
	t.Helper()
	s := must.Get(r.Read(context.Background()))(t)
	benches := must.Get(r.Benches(s))(t)
	outcomes := must.Get(r.Run(context.Background(), s, benches))(t)
	must.Do(t, r.Write(outcomes, []byte("seed: 0\n")))
	return string(must.Get(os.ReadFile(filepath.Join(r.Env.Dir, "table.csv")))(t))
}

// TestRunAgain: the second run of the same settings measures nothing and writes the
// same; a method that draws nothing runs once, whatever the number of runs.
func TestRunAgain(t *testing.T) {
	r, log := newRunner(t, "ncm", "ppca")
	r.Sessions.Runs = 3
	first := run(t, r)
	if n := strings.Count(log.String(), "msg=measured"); n != 2*3 {
		t.Errorf("measured %d sessions, want three for each of two methods\n%s", n, log)
	}
	log.Reset()
	if again := run(t, r); again != first || strings.Contains(log.String(), "msg=measured") {
		t.Errorf("the second run gives\n%s\nthe first\n%s\nlog\n%s", again, first, log)
	}
	r.Env.Restart = true
	if again := run(t, r); again != first || strings.Count(log.String(), "msg=measured") != 2*3 {
		t.Errorf("a restarted run gives\n%s\nthe first\n%s\nlog\n%s", again, first, log)
	}
}

// TestProjectionIsShared: methods share the projection of a base session, also when
// earlier ones are ignored.
func TestProjectionIsShared(t *testing.T) {
	r, log := newRunner(t, "ncm", "ppca")
	r.DKL, r.Env.Restart = true, true
	r.Training.Epochs, r.Training.Keep = 2, dkl.KeepAlways
	run(t, r)
	if n := strings.Count(log.String(), "msg=trained "); n != 2 {
		t.Errorf("trained %d epochs, want the 2 of one projection\n%s", n, log)
	}
}

// TestNumberedLists: lists of numbers name no rows of a feature folder.
func TestNumberedLists(t *testing.T) {
	r, _ := newRunner(t)
	r.Sessions.Lists = t.TempDir()
	for _, name := range []string{"session_1.txt", "test_1.txt"} {
		must.Do(t, os.WriteFile(filepath.Join(r.Sessions.Lists, name), []byte("1\n2\n"), 0o644))
	}
	s := must.Get(r.Read(context.Background()))(t)
	_, err := r.Benches(s)
	if input := (*experiment.InputError)(nil); !errors.As(err, &input) || !strings.Contains(err.Error(), "--images") {
		t.Errorf("got %v", err)
	}
}

// TestMaterial: its fingerprint changes with the sessions.
func TestMaterial(t *testing.T) {
	r, _ := newRunner(t)
	dir := r.Env.Features
	r.Env.Features = ""
	fingerprint := func() string {
		m, err := r.Material(dir)
		if err != nil || len(m.Benches) != 1 {
			t.Fatalf("%d benches, %v", len(m.Benches), err)
		}
		return m.Fingerprint
	}
	recorded := fingerprint()
	if fingerprint() != recorded {
		t.Error("the fingerprint of the same sessions differs")
	}
	r.Sessions.Protocol, r.Sessions.Steps = fscil.Incremental, 2
	if fingerprint() == recorded {
		t.Error("the fingerprint ignores the sessions")
	}
}
