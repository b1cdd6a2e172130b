package experiment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/research/experiment"
	"github.com/seed-90d10d51/pipeline/research/grid"
	"github.com/seed-90d10d51/pipeline/research/table"
)

// counted computes a part and counts the computations.
type counted struct {
	times int
	err   error
}

func (c *counted) part(t *testing.T, ctx context.Context, s experiment.Env, of any) (map[string]float64, error) {
	t.Helper()
	return experiment.Part(ctx, s, "one", of, func() (map[string]float64, error) {
		c.times++
		return map[string]float64{"x": 0.1 + 0.2}, c.err
	})
}

// TestPartIsComputedOnce: a part is only computed again if its inputs change or
// its file is damaged.
func TestPartIsComputedOnce(t *testing.T) {
	s := experiment.Env{Dir: t.TempDir(), Seed: 1, Version: "a"}
	file := filepath.Join(s.Dir, "parts", "one.safetensors")
	c, want := &counted{}, 0
	check := func(what string, s experiment.Env, of any, again bool) {
		t.Helper()
		if again {
			want++
		}
		v, err := c.part(t, context.Background(), s, of)
		if err != nil || v["x"] != 0.1+0.2 || c.times != want {
			t.Errorf("%s: %v, %v, computed %d times, want %d", what, v, err, c.times, want)
		}
	}
	check("first", s, "k", true)
	check("second", s, "k", false)
	check("other inputs", s, "l", true)
	s.Seed = 2
	check("other seed", s, "l", true)
	s.Version = "b"
	check("other version", s, "l", true)
	s.BackendName = "gonum"
	check("other backend", s, "l", true)
	for _, damage := range []string{"", "{", `{"of":3}`, "null"} {
		must.Do(t, os.WriteFile(file, []byte(damage), 0o644))
		check("damaged", s, "l", true)
	}
	text := must.Get(os.ReadFile(file))(t)
	must.Do(t, os.WriteFile(file, bytes.Replace(text, []byte(`{"x":`), []byte(`["x",`), 1), 0o644))
	check("half a part", s, "l", true)
}

func TestPartFails(t *testing.T) {
	s := experiment.Env{Dir: t.TempDir()}
	c := &counted{err: errors.New("no luck")}
	if _, err := c.part(t, context.Background(), s, 1); !errors.Is(err, c.err) ||
		!strings.Contains(err.Error(), "part one") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.part(t, ctx, s, 1); !errors.Is(err, context.Canceled) || c.times != 1 {
		t.Errorf("%v, computed %d times", err, c.times)
	}
	ctx, cancel = context.WithCancel(context.Background())
	if _, err := experiment.Part(ctx, s, "three", 1, func() (int, error) { cancel(); return 1, nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled while it computed: %v", err)
	}
	if _, err := c.part(t, context.Background(), s, math.NaN()); err == nil {
		t.Error("inputs that are no JSON were taken")
	}
	if _, err := experiment.Part(context.Background(), s, "two", 1,
		func() (float64, error) { return math.NaN(), nil }); err == nil {
		t.Error("a value that is not JSON was kept")
	}
	for _, name := range []string{"two", "three"} {
		if _, err := os.Stat(s.Folder("").File(name)); err == nil {
			t.Errorf("part %s failed and left a file", name)
		}
	}
}

// TestMeasure: runs of the same place are joined, and a task is done once.
func TestMeasure(t *testing.T) {
	s := experiment.Env{Dir: t.TempDir()}
	done := 0
	var tasks []experiment.Task
	for run := range 3 {
		tasks = append(tasks, experiment.Task{Name: fmt.Sprint("run", run), Of: run,
			Measure: func(context.Context) (cell grid.Grid, err error) {
				done++
				cell.Add(grid.At("q", 5), grid.Values{"a": float64(run)})
				return cell, nil
			}})
	}
	for range 2 {
		cells, err := s.Measure(context.Background(), tasks...)
		if err != nil || done != 3 || len(cells) != 1 || !slices.Equal(cells[0].Values["a"], []float64{0, 1, 2}) {
			t.Errorf("%v, %v, done %d times", cells, err, done)
		}
	}
	broken := errors.New("broken")
	tasks[1].Measure = func(context.Context) (grid.Grid, error) { return nil, broken }
	tasks[1].Of = "other"
	if _, err := s.Measure(context.Background(), tasks...); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// TestDraft: a draft is only returned for the same inputs, and disappears when
// it is removed.
func TestDraft(t *testing.T) {
	s := experiment.Env{Dir: t.TempDir(), Seed: 1}
	draft := func(of any) checkpoint.Part[[]int] {
		return must.Get(experiment.Draft[[]int](s, "one", of))(t)
	}
	read := func(of any) []int {
		v := draft(of).Load()
		if v == nil {
			return nil
		}
		return *v
	}
	if read("a") != nil {
		t.Error("a draft from nowhere")
	}
	for _, v := range [][]int{{1}, {1, 2}} {
		must.Do(t, draft("a").Save(v))
		if got := read("a"); len(got) != len(v) || read("b") != nil {
			t.Errorf("%v, %v", got, read("b"))
		}
	}
	for range 2 {
		if err := draft("a").Remove(); err != nil || read("a") != nil {
			t.Error(err)
		}
	}
	if _, err := experiment.Draft[int](s, "one", math.NaN()); err == nil {
		t.Error("inputs that are no JSON were taken")
	}
}

func outcome(t *testing.T) experiment.Outcome {
	t.Helper()
	var cells grid.Grid
	cells.Add(grid.At("q", 5), grid.Values{"a": 0.5})
	cells.Add(grid.At("q", 6), nil)
	f := chart.Lines("by_x", chart.Axes{}, []chart.Series{{Label: "a", Y: []float64{1, 2}}})
	return experiment.Outcome{
		Title: "T", Lead: "L", Results: experiment.Results{Kind: "k", Cells: cells}, Figures: []chart.Figure{f},
		Tables: []table.Table{
			{Name: "main", Title: "Main", Note: "Percent.", Header: []string{"a", "b"},
				Rows: [][]string{{"x|y", table.None}}},
			{Name: "more", Header: []string{"c"}, Rows: [][]string{{"1"}}},
		},
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	must.Do(t, outcome(t).Write(dir, []byte("seed: 0\n")))
	for name, want := range map[string]string{
		"results.json": `{
  "kind": "k",
  "cells": [
    {"at":{"q":"5"},"values":{"a":[0.5]}},
    {"at":{"q":"6"},"values":{}}
  ]
}
`, "config.yaml": "seed: 0\n", "table.csv": "a,b\nx|y,\n",
		"more.csv": "c\n1\n",
		"table.md": "# T\n\nL\n\n## Main\n\n| a | b |\n| --- | --- |\n| x\\|y | – |\n\nPercent.\n\n" +
			"| c |\n| --- |\n| 1 |\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"by_x.png", "by_x.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := outcome(t)
	for _, no := range []any{math.Inf(1), experiment.Results{Cells: grid.Grid{{Values: map[string][]float64{
		"a": {math.NaN()}}}}}} {
		bad.Results = no
		other := filepath.Join(t.TempDir(), "bad")
		if bad.Write(other, nil) == nil {
			t.Error("results that are no JSON were written")
		}
		if _, err := os.Stat(other); err == nil {
			t.Error("a failed Write left something")
		}
	}
}
