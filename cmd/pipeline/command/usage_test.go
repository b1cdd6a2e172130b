package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestUsageErrors: a wrong word gives exit code 2 and an error that names the
// nearest right one. None of these commands gets far enough to need ONNX Runtime.
func TestUsageErrors(t *testing.T) {
	l := commandtest.NewBare(t)
	t.Setenv("XDG_CACHE_HOME", l.Path("user-cache"))
	l.Write(l.Path("typo.yaml"), []byte("classifier:\n  plda:\n    epsilom: 0.1\n"))
	l.Write(l.Path("broken.yaml"), []byte("classifier: [\n"))
	l.Write(l.Path("word.yaml"), []byte("classifier:\n  ppca:\n    q: many\n"))
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"lable", []string{"lable", "label"}},
		{"backbones lst", []string{"lst", "list"}},
		{"train --imagse x", []string{"--imagse", "--images"}},
		{"train --set classifier.nmae=ncm", []string{"classifier.nmae", "classifier.name"}},
		{"train --set classifier.name", []string{"key=value"}},
		{"train --out m --images x --classifier nmc", []string{"nmc", "ncm"}},
		{"train --config typo.yaml", []string{"classifier.plda.epsilom", "classifier.plda.epsilon"}},
		{"train --config broken.yaml", []string{"broken.yaml"}},
		{"train --config nowhere.yaml", []string{"nowhere.yaml", "no such file"}},
		{"train --set label.top_k=none", []string{"label.top_k"}},
		{"train --images x", []string{"--out is missing: file for the model"}},
		{"train --out m", []string{"--images"}},
		{"train --out m --images x --features y", []string{"--features", "--images"}},
		{"label m --images x", []string{"--out is missing: folder for the results"}},
		{"label m --out x", []string{"--images"}},
		{"label", []string{"label MODEL"}},
		{"label m --images x --out y --format parqet", []string{"parqet", "csv", "jsonl"}},
		{"label m --images x --out fruit.csv", []string{"--out fruit", "fruit/labels.csv"}},
		{"label m --images x --out y --top-k 0", []string{"top_k"}},
		{"train --stats x --texts y --out z", []string{"--stats", "learn the texts afterwards"}},
		{"learn m --stats x --texts y", []string{"--stats", "learn the texts afterwards"}},
		{"label m --images x --out y --reject 1", []string{"reject"}},
		{"label m --images x --out y --threads -1", []string{"threads"}},
		{"label m --images x --out y --threads many", []string{"--threads"}},
		{"label m --images x --out y --log xml", []string{"log", "json"}},
		{"forget m", []string{"--class", "--samples"}},
		{"forget m --class a --samples b", []string{"--class", "--samples"}},
		{"eval m --features f --report r", []string{"--report", "--images"}},
		{"label m --features f --out o --report", []string{"--report", "--images"}},
		{"rank m --features f --out o --cluster-unknown g", []string{"--cluster-unknown", "--images"}},
		{"rank --images x --out o", []string{"rank MODEL | --first N"}},
		{"rank m --first 5 --images x --out o", []string{"--first", "leave out \"m\""}},
		{"rank --first 0 --images x --out o", []string{"--first 0", "from 1 to 5000"}},
		{"rank --first 5001 --images x --out o", []string{"--first 5001", "rank.cluster_images"}},
		{"rank --first 5 --out o", []string{"--images"}},
		{"rank --first 5 --images x", []string{"--out"}},
		{"rank --first 5 --by margin --images x --out o", []string{"--by", "--first"}},
		{"rank --first 5 --top 3 --images x --out o", []string{"--top", "--first"}},
		{"rank --first 5 --cluster-unknown g --images x --out o", []string{"--cluster-unknown", "--first"}},
		{"rank --first 5 --shard 1/2 --images x --out o", []string{"--shard"}},
		{"train --images x --out o --path-column a", []string{"--path-column", "--list"}},
		{"fscil --features f --out o --class-from leaf", []string{"--class-from", "features"}},
		{"train --features f --out o --class-from leaf", []string{"--class-from", "of their own"}},
		{"train --images x --out o --class-from leave", []string{"class_from", "leave", "top, leaf, path, root"}},
		{"trian --images x", []string{"unknown command", "train"}},
		{"foo --images x", []string{"unknown command", "--help lists"}},
		{"backbones lst --images x", []string{"unknown command", "list"}},
		{"train photos", []string{"photos", "--images photos"}},
		{"label --model m --images x --out o", []string{"MODEL is not a flag", "pipeline label MODEL --images"}},
		{"forget --name a", []string{"unknown flag: --name"}},
		{"train -o m --images x", []string{"unknown shorthand", "--out"}},
		{"train -z", []string{"unknown shorthand", "see pipeline train --help"}},
		{"label --images x --out o", []string{"MODEL is missing", "pipeline label MODEL --images"}},
		{"label m photos --out o", []string{"unexpected argument \"photos\"", "--images photos"}},
		{"label . m --out o", []string{"unexpected argument \".\"", "--images ."}},
		{"train photos of mine", []string{"--images photos"}},
		{"train --images my photos --out m", []string{"argument \"photos\"; put a name with spaces into quotes"}},
		{"export m --format coco", []string{"unknown flag: --format; it belongs to pipeline label; see"}},
		{"forget m ant", []string{"unexpected argument \"ant\"\nusage: pipeline forget MODEL --class NAME"}},
		{"stats merge --out o", []string{"STATS is missing"}},
		{"inspect a b", []string{"unexpected argument \"b\""}},
		{"backbones pull", []string{"NAME is missing"}},
		{"rank --images x --out o", []string{"MODEL is missing"}},
		{"version", []string{"did you mean --version?"}},
		{"doctor photos", []string{"unexpected argument", "photos"}},
		{"help foo", []string{"unknown command", "foo"}},
		{"help backbones foo", []string{"unknown command", "foo"}},
		{"train --images x --out m --set classifier.ppca.q=many",
			[]string{"classifier.ppca.q", "many", "a whole number", "default is 20"}},
		{"train --images x --out m --set classifier.plda.epsilon=auto",
			[]string{"classifier.plda.epsilon", "auto", "is not a number", "default is 0.3"}},
		{"train --images x --out m --set label.report=perhaps", []string{"label.report", "perhaps", "true or false"}},
		{"train --config word.yaml", []string{"word.yaml", "classifier.ppca.q", "many", "a whole number"}},
		{"train --images x --out m --set classifier.plda.zzzzzz=1",
			[]string{"the keys of classifier.plda are", "epsilon"}},
		{"backbones pull restnet50-v2", []string{"restnet50-v2", "resnet50-v2"}},
	} {
		args := strings.Fields(c.args)
		if i := slices.Index(args, "--config"); i >= 0 {
			args[i+1] = l.Path(args[i+1])
		}
		t.Run(c.args, func(t *testing.T) {
			sub := l.With(t)
			sub.Refused(command.ExitUsage, c.words, args...)
		})
	}
}

// TestNoSillySuggestion: a word that is like no name is not taken for one.
func TestNoSillySuggestion(t *testing.T) {
	l := commandtest.NewBare(t)
	t.Setenv("XDG_CACHE_HOME", l.Path("user-cache"))
	for _, name := range []string{"foo", "RanPAC"} {
		r := l.Expect(command.ExitUsage, "train", "--images", "x", "--out", "m", "--classifier", name)
		if strings.Contains(r.Stderr, "did you mean") || !strings.Contains(r.Stderr, "gptree-random, hppca") {
			t.Errorf("%s: %s", name, r.Stderr)
		}
	}
	for _, args := range [][]string{{"train", "--zzz"}, {"zzz"}, {"train", "--set", "zzz=1"}} {
		if r := l.Expect(command.ExitUsage, args...); strings.Contains(r.Stderr, "did you mean") {
			t.Errorf("%q: %s", args, r.Stderr)
		}
	}
}

// TestHelpCommand: help of a command equals its --help.
func TestHelpCommand(t *testing.T) {
	l := commandtest.NewBare(t)
	for _, topic := range [][]string{{"train"}, {"stats", "merge"}, {"stats"}, {}} {
		want := l.Must(append(topic, "--help")...).Stdout
		if got := l.Must(append([]string{"help"}, topic...)...).Stdout; got != want {
			t.Errorf("help %q: %q, want %q", topic, got, want)
		}
	}
}

func TestUnknownEnvironmentVariable(t *testing.T) {
	l := commandtest.NewBare(t)
	t.Setenv("PIPELINE_CLASIFIER_NAME", "ncm")
	l.Refused(command.ExitUsage, []string{"PIPELINE_CLASIFIER_NAME", "PIPELINE_CLASSIFIER_NAME"}, "backbones", "list")
}

// TestHelp: every command explains itself on stdout, with an example that a
// user can type.
func TestHelp(t *testing.T) {
	everyCommand(command.NewRoot(), func(cmd *cobra.Command) {
		words := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		var stdout, stderr bytes.Buffer
		if code := command.Run(context.Background(), words, &stdout, &stderr); code != command.ExitDone ||
			stderr.Len() > 0 {
			t.Errorf("%q: exit code %d, stderr %q", words, code, stderr.String())
		}
		if cmd.Short == "" || !strings.Contains(stdout.String(), "Usage:") {
			t.Errorf("%q does not explain itself", words)
		}
		for line := range strings.Lines(cmd.Example) {
			if example := strings.Fields(line); len(example) > 0 && example[0] == "pipeline" {
				commandtest.CheckExample(t, example[1:])
			} else {
				t.Errorf("%q has an example that does not begin with pipeline: %q", words, line)
			}
		}
		if cmd.Example == "" {
			t.Errorf("%q has no example", words)
		}
	})
}

func TestVersion(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := command.Run(context.Background(), []string{"--version"}, &stdout, &stderr); code != command.ExitDone ||
		!regexp.MustCompile(`^pipeline version `+regexp.QuoteMeta(command.Version())+` \(commit [0-9a-z+]+, `+
			regexp.QuoteMeta(runtime.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH)+`\)\n$`).Match(stdout.Bytes()) {
		t.Errorf("exit code %d, %q", code, stdout.String())
	}
	changes, err := os.ReadFile("../../../CHANGELOG.md")
	if newest := regexp.MustCompile(`(?m)^## ([0-9.]+) \(`).FindSubmatch(changes); err != nil || newest == nil ||
		string(newest[1]) != command.Version() {
		t.Errorf("the newest version in CHANGELOG.md is %s, the program's %s; %v", newest, command.Version(), err)
	}
}

// TestSettingSources: flags override the environment, which overrides the
// file; --set overrides all. The model records what was chosen.
func TestSettingSources(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), 48, 4, "kiwi", "lime")
	l.Write(l.Path("settings.yaml"), []byte("classifier:\n  name: ppca\nseed: 3\n"))
	for _, c := range []struct {
		name, want string
		env        string
		args       []string
	}{
		{name: "default", want: "plda, seed 0"},
		{name: "file", want: "ppca, seed 3", args: []string{"--config", l.Path("settings.yaml")}},
		{name: "env over file", want: "ncm, seed 3", env: "ncm", args: []string{"--config", l.Path("settings.yaml")}},
		{name: "flag over env", want: "plda, seed 3", env: "ncm",
			args: []string{"--config", l.Path("settings.yaml"), "--classifier", "plda"}},
		{name: "set over flag", want: "ncm, seed 9",
			args: []string{"--classifier", "plda", "--set", "classifier.name=ncm", "--set", "seed=9", "--seed", "4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env != "" {
				t.Setenv("PIPELINE_CLASSIFIER_NAME", c.env)
			}
			model := l.Path(c.name + ".model")
			l.Must(append([]string{"train", "--images", images, "--out", model}, c.args...)...)
			shown := l.Must("inspect", model).Stdout
			method, seed, _ := strings.Cut(c.want, ", ")
			if !strings.Contains(shown, ": "+method+",") || !strings.Contains(shown, seed+"\n") {
				t.Errorf("want %s:\n%s", c.want, shown)
			}
		})
	}
}

// TestLogLines: the log goes to stderr only, and is JSON if asked for.
func TestLogLines(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), 48, 4, "kiwi", "lime")
	l.Write(l.Path("images", "loose.jpg"), commandtest.Photo("loose", 0, 48)) // no class: a warning
	r := l.Must("train", "--images", images, "--out", l.Path("m"), "--log", "json")
	lines := strings.Split(strings.TrimSpace(r.Stderr), "\n")
	if len(lines) == 0 || lines[0] == "" {
		t.Fatal("no log lines")
	}
	for _, line := range lines {
		var entry struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" || entry.Level == "" ||
			entry.Msg == "" {
			t.Errorf("log line %q: %v", line, err)
		}
	}
	for _, word := range []string{"level=", `"level"`, "WARN"} {
		if strings.Contains(r.Stdout, word) {
			t.Errorf("stdout holds log lines: %s", r.Stdout)
		}
	}
}

// TestErrorsAsJSON: with --log json the error that ends a command is a line of JSON, too, also where
// the command line cannot be read.
func TestErrorsAsJSON(t *testing.T) {
	settings := filepath.Join(t.TempDir(), "settings.yaml")
	must.Do(t, os.WriteFile(settings, []byte("log: json\n"), 0o600))
	for _, c := range []struct {
		env, args string
		asJSON    bool
	}{
		{"", "inspect nowhere.model --log json", true},
		{"", "inspect nowhere.model --log=json", true},
		{"", "inspect nowhere.model --set log=json", true},
		{"", "inspect nowhere.model --config " + settings, true},
		{"json", "inspect nowhere.model", true},
		{"json", "lable", true},
		{"", "inspect --threads many --log json", true},
		{"", "inspect --nonsense --log json", true},
		{"json", "inspect nowhere.model --log text", false},
		{"", "inspect nowhere.model", false},
	} {
		t.Setenv("PIPELINE_LOG", c.env)
		if c.env == "" {
			must.Do(t, os.Unsetenv("PIPELINE_LOG")) // until the test ends
		}
		var stderr bytes.Buffer
		if code := command.Run(t.Context(), strings.Fields(c.args), io.Discard, &stderr); code == command.ExitDone {
			t.Errorf("%s succeeds", c.args)
		}
		var line struct{ Level, Msg string }
		err := json.Unmarshal(stderr.Bytes(), &line)
		if (err == nil) != c.asJSON {
			t.Errorf("%s with %q: %s", c.args, c.env, &stderr)
		}
		if c.asJSON && (line.Level != "ERROR" || line.Msg == "" || strings.HasPrefix(line.Msg, "error:")) {
			t.Errorf("%s: %+v", c.args, line)
		}
	}
}
