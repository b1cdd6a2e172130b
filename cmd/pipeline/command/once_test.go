package command_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestNoFlagDropsAValue: a flag of any command either collects its values, or refuses
// a second one.
func TestNoFlagDropsAValue(t *testing.T) {
	values := map[string][2]string{"bool": {"true", "false"}}
	for _, number := range []string{"int", "uint64", "float64"} {
		values[number] = [2]string{"1", "2"}
	}
	checked := 0
	var check func(*cobra.Command)
	check = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			given, ok := values[f.Value.Type()]
			if !ok {
				given = [2]string{"a", "b"}
			}
			again := []string{"--" + f.Name + "=" + given[0], "--" + f.Name + "=" + given[0], "--" + f.Name + "=" +
				given[1]}
			err := cmd.LocalFlags().Parse(again)
			list, isList := f.Value.(pflag.SliceValue)
			switch {
			case f.Name == "help" || f.Name == "version":
			case isList && (err != nil || len(list.GetSlice()) != len(again)):
				t.Errorf("%s %v: %v, %v", cmd.CommandPath(), again, f.Value, err)
			case !isList && (err == nil || !strings.Contains(err.Error(), "given twice")):
				t.Errorf("%s %v: %v, %v", cmd.CommandPath(), again, f.Value, err)
			}
			checked++
		})
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(command.NewRoot())
	if checked < 100 {
		t.Errorf("only %d flags", checked)
	}
}

// TestForgetSeveralClasses at once; one that is unknown, or another flag that is given
// twice, changes nothing.
func TestForgetSeveralClasses(t *testing.T) {
	l := commandtest.New(t)
	all := l.Features("all")
	model, never := l.Path("a.model"), l.Path("never.model")
	l.Must("train", "--features", all, "--out", model, "--classifier", "plda")
	l.Must("train", "--features", all, "--out", never, "--classifier", "plda", "--drop-label", "b", "--drop-label", "d")
	before := l.Read(model)
	l.Refused(command.ExitFailed, []string{`"x"`, "unknown class"},
		"forget", model, "--class", "b", "--class", "x", "--features", all)
	for _, flag := range []string{"--samples", "--features", "--images"} {
		l.Refused(command.ExitUsage, []string{flag, "given twice"}, "forget", model, flag, all, flag, l.Dir)
	}
	l.Same("a refused forget", before, model)
	r := l.Must("forget", model, "--class", "d", "--class", "b", "--features", all)
	if !strings.Contains(r.Stdout, "forgot classes b, d; left: 2 classes") {
		t.Errorf("it says %s", r.Stdout)
	}
	l.Same("forgetting two classes", l.Read(never), model)
}
