package command_test

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

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/label"
)

// TestFirstSteps: without a command, the program says what to do first, with
// commands that exist.
func TestFirstSteps(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := command.Run(context.Background(), nil, &stdout, &stderr); code != command.ExitDone || stderr.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	n := 0
	for line := range strings.Lines(stdout.String()) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "pipeline" {
			commandtest.CheckExample(t, words[1:])
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
	l := commandtest.New(t)
	model, images := l.Trained("--quiet")
	for _, args := range [][]string{
		{"train", "--images", images, "--out", model}, {"learn", model, "--images", images},
		{"embed", "--images", images, "--out", l.Path("features")},
		{"label", model, "--images", images, "--out", l.Path("labels")},
		{"rank", model, "--images", images, "--out", l.Path("look.csv")},
		{"export", model, "--onnx", l.Path("m.onnx")}, {"forget", model, "--class", "plum"},
	} {
		if r := l.Must(append(args, "--quiet")...); r.Stdout+r.Stderr != "" {
			t.Errorf("%q prints %q and %q", args, r.Stdout, r.Stderr)
		}
	}
	if r := l.Must("inspect", model, "-q"); !strings.Contains(r.Stdout, "2 classes") {
		t.Errorf("inspect -q prints %q", r.Stdout)
	}
	if r := l.Must("forget", model, "--class", "lime", "-q", "--approximate",
		"--keep-previous"); !strings.Contains(r.Stderr, "level=WARN") {
		t.Errorf("no warning: %q", r.Stderr)
	}
}

// TestJSON: results are JSON, and nothing else, on request.
func TestJSON(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	var summary label.Summary
	var trained, taught, ofStats pipeline.LearnedJSON
	var machine pipeline.Diagnosis
	more := l.Photos(l.Path("more"), commandtest.SmallSide, 2, "pear", "fig")
	l.Must("stats", "collect", "--images", images, "--out", l.Path("all.stats"))
	for what, result := range map[string]struct {
		stdout string
		into   any
	}{
		"label":     {l.Must("label", model, "--images", images, "--out", l.Path("labels"), "--json").Stdout, &summary},
		"eval":      {l.Must("eval", model, "--images", images, "--json", "-").Stdout, new(map[string]any)},
		"backbones": {l.Must("backbones", "list", "--json").Stdout, new([]map[string]any)},
		"datasets":  {l.Must("datasets", "list", "--json").Stdout, new([]map[string]any)},
		"inspect":   {l.Must("inspect", model, "--json").Stdout, new(map[string]any)},
		"doctor":    {l.Must("doctor", "--json").Stdout, &machine},
		"train":     {l.Must("train", "--images", images, "--out", model, "--json").Stdout, &trained},
		"learn":     {l.Must("learn", model, "--images", more, "--json").Stdout, &taught},
		"stats": {l.Must("learn", model, "--stats", l.Path("all.stats"), "--out", l.Path("again.model"),
			"--json").Stdout, &ofStats},
	} {
		if err := json.Unmarshal([]byte(result.stdout), result.into); err != nil {
			t.Errorf("%s: %v in %s", what, err, result.stdout)
		}
	}
	if summary.Labelled != 24 {
		t.Errorf("label --json: %+v", summary)
	}
	if trained.Added != 24 || trained.Method != "plda" || len(trained.NewClasses) != len(trained.Classes) ||
		trained.Model != model || trained.Advice.LeftOut == 0 {
		t.Errorf("train --json: %+v", trained)
	}
	if taught.Added != 4 || !slices.Equal(taught.NewClasses, []string{"fig", "pear"}) || taught.Samples != 28 {
		t.Errorf("learn --json: %+v", taught)
	}
	if ofStats.Added != 0 || ofStats.Known != 24 || ofStats.NewClasses == nil ||
		ofStats.Model != l.Path("again.model") {
		t.Errorf("learn --stats --json: %+v", ofStats)
	}
	if !machine.Ready || machine.Version != command.Version() || len(machine.Checks) < 5 || !machine.Checks[0].Works ||
		machine.Checks[0].Name != "ONNX Runtime" {
		t.Errorf("doctor --json: %+v", machine)
	}
	refused, _ := l.Process(l.Path("cache"), "doctor", "--json")
	refused.Env = append(refused.Env, "ONNXRUNTIME_LIB="+l.Path("none.so"))
	out, err := refused.Output()
	if json.Unmarshal(out, &machine) != nil || err == nil || machine.Ready || machine.Checks[0].Works ||
		len(machine.Checks[0].Text) == 0 {
		t.Errorf("doctor --json without ONNX Runtime: %v, %s", err, out)
	}
}

// TestDash: a list comes from stdin and a table goes to stdout, as in pipes.
func TestDash(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	piped := func(text string, args ...string) commandtest.Result {
		t.Helper()
		cmd := exec.Command(os.Args[0], append(args, "--cache", l.Path("cache"))...)
		var stdout, stderr bytes.Buffer
		cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.Env, images, strings.NewReader(text), &stdout, &stderr
		_ = cmd.Run() // the exit code says it
		return commandtest.Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
	}
	list := "kiwi/000.jpg\n./lime/003.jpg\n"
	r := piped(list, "rank", model, "--list", "-", "--out", "-")
	if rows := strings.Split(strings.TrimSpace(r.Stdout), "\n"); r.Code != command.ExitDone || len(rows) != 3 ||
		!strings.HasPrefix(rows[0], "path,label,") {
		t.Errorf("rank of two photos: %+v", r)
	}
	if r := piped(list+"lost.jpg\n", "rank", model, "--list", "-", "--out", "-"); r.Code != command.ExitPartial ||
		!strings.Contains(r.Stderr, "line 3 of standard input") || strings.Count(r.Stdout, "\n") != 3 {
		t.Errorf("rank with a lost photo: %+v", r)
	}
	if r := piped(list, "forget", model, "--samples", "-", "--out", l.Path("less.model")); r.Code != command.ExitDone ||
		!strings.Contains(r.Stdout, "forgot 2 samples") {
		t.Errorf("forget: %+v", r)
	}
	if r := piped("", "train", "--images", images, "--out", "-"); r.Code != command.ExitUsage ||
		!strings.Contains(r.Stderr, "name a file") {
		t.Errorf("train --out -: %+v", r)
	}
	if l.Exists(filepath.Join(images, "-")) || l.Exists(filepath.Join(images, "-.errors.csv")) {
		t.Error("a file is named -")
	}
}

// TestCard: the model card says what the model knows, and class names cannot
// break its tables.
func TestCard(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("base"), commandtest.SmallSide, 4, "kiwi", "lime|le*mon")
	file := l.Path("base.model")
	l.Must("train", "--images", images, "--out", file)
	l.Photos(l.Path("new"), commandtest.SmallSide, 1, "plum")
	l.Must("learn", file, "--images", l.Path("new"))
	text := l.Must("inspect", file, "--card").Stdout
	for _, want := range []string{
		"# Model card: base.model\n", "one of 3 classes",
		"9 photos of 3 classes, from 1 to 4 a class, learned in 2 sessions.",
		"| lime\\|le\\*mon | 4 | 1 |\n", "| plum | 1 | 2 |\n", "Of photos of these classes **",
		"** are named correctly",
		"1 class was learned from a single photo",
		"## Limits", "## Provenance", "SHA-256",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not say %q:\n%s", want, text)
		}
	}
	l.Refused(command.ExitUsage, []string{"--card", "--json"}, "inspect", file, "--card", "--json")
}
