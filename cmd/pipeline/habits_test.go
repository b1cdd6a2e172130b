package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/label"
)

// TestFirstSteps: without a command, the program says what to do first, with
// commands that exist.
func TestFirstSteps(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), nil, &stdout, &stderr); code != exitDone || stderr.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	n := 0
	for line := range strings.Lines(stdout.String()) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "pipeline" {
			examplePasses(t, words[1:])
			n++
		}
	}
	if n < 4 {
		t.Errorf("%d commands in\n%s", n, stdout.String())
	}
}

// TestQuiet: --quiet leaves out remarks of commands that write files, and keeps
// results and warnings.
func TestQuiet(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained("--quiet")
	for _, args := range [][]string{
		{"train", "--images", images, "--out", model}, {"learn", model, "--images", images}, {"embed", "--images", images, "--out", l.path("features")},
		{"label", model, "--images", images, "--out", l.path("labels")}, {"rank", model, "--images", images, "--out", l.path("look.csv")},
		{"export", model, "--onnx", l.path("m.onnx")}, {"forget", model, "--class", "plum"},
	} {
		if r := l.must(append(args, "--quiet")...); r.stdout+r.stderr != "" {
			t.Errorf("%q prints %q and %q", args, r.stdout, r.stderr)
		}
	}
	if r := l.must("inspect", model, "-q"); !strings.Contains(r.stdout, "2 classes") {
		t.Errorf("inspect -q prints %q", r.stdout)
	}
	if r := l.must("forget", model, "--class", "lime", "-q", "--approximate", "--keep-previous"); !strings.Contains(r.stderr, "level=WARN") {
		t.Errorf("no warning: %q", r.stderr)
	}
}

// TestJSON: results are JSON, and nothing else, on request.
func TestJSON(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	var summary label.Summary
	var trained, taught, ofStats learned
	var machine diagnosis
	more := l.photos(l.path("more"), smallSide, 2, "pear", "fig")
	l.must("stats", "collect", "--images", images, "--out", l.path("all.stats"))
	for what, result := range map[string]struct {
		stdout string
		into   any
	}{
		"label":     {l.must("label", model, "--images", images, "--out", l.path("labels"), "--json").stdout, &summary},
		"eval":      {l.must("eval", model, "--images", images, "--json", "-").stdout, new(map[string]any)},
		"backbones": {l.must("backbones", "list", "--json").stdout, new([]map[string]any)},
		"datasets":  {l.must("datasets", "list", "--json").stdout, new([]listedDataset)},
		"inspect":   {l.must("inspect", model, "--json").stdout, new(map[string]any)},
		"doctor":    {l.must("doctor", "--json").stdout, &machine},
		"train":     {l.must("train", "--images", images, "--out", model, "--json").stdout, &trained},
		"learn":     {l.must("learn", model, "--images", more, "--json").stdout, &taught},
		"stats":     {l.must("learn", model, "--stats", l.path("all.stats"), "--out", l.path("again.model"), "--json").stdout, &ofStats},
	} {
		if err := json.Unmarshal([]byte(result.stdout), result.into); err != nil {
			t.Errorf("%s: %v in %s", what, err, result.stdout)
		}
	}
	if summary.Labelled != 24 {
		t.Errorf("label --json: %+v", summary)
	}
	if trained.Added != 24 || trained.Method != "plda" || len(trained.NewClasses) != len(trained.Classes) || trained.Model != model || trained.Advice.LeftOut == 0 {
		t.Errorf("train --json: %+v", trained)
	}
	if taught.Added != 4 || !slices.Equal(taught.NewClasses, []string{"fig", "pear"}) || taught.Samples != 28 {
		t.Errorf("learn --json: %+v", taught)
	}
	if ofStats.Added != 0 || ofStats.Known != 24 || ofStats.NewClasses == nil || ofStats.Model != l.path("again.model") {
		t.Errorf("learn --stats --json: %+v", ofStats)
	}
	if !machine.Ready || machine.Version != version || len(machine.Checks) < 5 || !machine.Checks[0].Works || machine.Checks[0].Name != "ONNX Runtime" {
		t.Errorf("doctor --json: %+v", machine)
	}
	refused, _ := l.process(l.path("cache"), "doctor", "--json")
	refused.Env = append(refused.Env, "ONNXRUNTIME_LIB="+l.path("none.so"))
	out, err := refused.Output()
	if json.Unmarshal(out, &machine) != nil || err == nil || machine.Ready || machine.Checks[0].Works || len(machine.Checks[0].Text) == 0 {
		t.Errorf("doctor --json without ONNX Runtime: %v, %s", err, out)
	}
}

// TestDash: a list comes from stdin and a table goes to stdout, as in pipes.
func TestDash(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	piped := func(text string, args ...string) result {
		t.Helper()
		cmd := exec.Command(os.Args[0], append(args, "--cache", l.path("cache"))...)
		var stdout, stderr bytes.Buffer
		cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.env, images, strings.NewReader(text), &stdout, &stderr
		_ = cmd.Run() // the exit code says it
		return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}
	list := "kiwi/000.jpg\n./lime/003.jpg\n"
	r := piped(list, "rank", model, "--list", "-", "--out", "-")
	if rows := strings.Split(strings.TrimSpace(r.stdout), "\n"); r.code != exitDone || len(rows) != 3 || !strings.HasPrefix(rows[0], "path,label,") {
		t.Errorf("rank of two photos: %+v", r)
	}
	if r := piped(list+"lost.jpg\n", "rank", model, "--list", "-", "--out", "-"); r.code != exitPartial || !strings.Contains(r.stderr, "line 3 of standard input") || strings.Count(r.stdout, "\n") != 3 {
		t.Errorf("rank with a lost photo: %+v", r)
	}
	if r := piped(list, "forget", model, "--samples", "-", "--out", l.path("less.model")); r.code != exitDone || !strings.Contains(r.stdout, "forgot 2 samples") {
		t.Errorf("forget: %+v", r)
	}
	if r := piped("", "train", "--images", images, "--out", "-"); r.code != exitUsage || !strings.Contains(r.stderr, "name a file") {
		t.Errorf("train --out -: %+v", r)
	}
	if l.exists(filepath.Join(images, "-")) || l.exists(filepath.Join(images, "-.errors.csv")) {
		t.Error("a file is named -")
	}
}

// TestCard: the model card says what the model knows, and class names cannot
// break its tables.
func TestCard(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("base"), smallSide, 4, "kiwi", "lime|le*mon")
	file := l.path("base.model")
	l.must("train", "--images", images, "--out", file)
	l.photos(l.path("new"), smallSide, 1, "plum")
	l.must("learn", file, "--images", l.path("new"))
	text := l.must("inspect", file, "--card").stdout
	for _, want := range []string{
		"# Model card: base.model\n", "one of 3 classes", "9 photos of 3 classes, from 1 to 4 a class, learned in 2 sessions.",
		"| lime\\|le\\*mon | 4 | 1 |\n", "| plum | 1 | 2 |\n", "of photos of these classes are named correctly", "1 class was learned from a single photo",
		"## Limits", "## Provenance", "SHA-256",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not say %q:\n%s", want, text)
		}
	}
	l.refused(exitUsage, []string{"--card", "--json"}, "inspect", file, "--card", "--json")
}
