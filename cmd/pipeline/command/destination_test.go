package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every --json and --report is given alone, with = or, as in version 0.1, followed by a
// word where that can mean nothing else.
func TestDestinations(t *testing.T) {
	n := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "json" && f.Name != "report" {
				return
			}
			n++
			if _, ok := unwrapped(f).(*destination); !ok || f.NoOptDefVal == "" {
				t.Errorf("%s --%s is not a destination", cmd.CommandPath(), f.Name)
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(NewRoot())
	if n < 9 {
		t.Errorf("%d destinations", n)
	}
	for given, want := range map[string]string{
		"eval m --json out.json --images d":            "eval m --json=out.json --images d",
		"eval --json out.json m --images d":            "eval --json=out.json m --images d",
		"eval --report r --json j m":                   "eval --report=r --json=j m",
		"eval m --report r --json":                     "eval m --report=r --json",
		"eval --report m":                              "eval --report m",
		"eval m --json -":                              "eval m --json=-",
		"eval m --json - --report":                     "eval m --json=- --report",
		"eval m --json --quiet":                        "eval m --json --quiet",
		"eval m --json=j extra":                        "eval m --json=j extra",
		"--quiet eval m --json j":                      "--quiet eval m --json=j",
		"eval --images d m --report r":                 "eval --images d m --report=r",
		"label m --out o --report --images d":          "label m --out o --report --images d",
		"train --images d --json":                      "train --images d --json",
		"backbones list --json":                        "backbones list --json",
		"eval m -- --json j":                           "eval m -- --json j",
		"nonsense --json j":                            "nonsense --json j",
		"eval m --set a=b --json j --list l --quiet":   "eval m --set a=b --json=j --list l --quiet",
		"inspect m --json j":                           "inspect m --json=j",
		"inspect --json m":                             "inspect --json m",
		"label --json m --out o --report r --images d": "label --json m --out o --report=r --images d",
	} {
		got := joined(NewRoot(), strings.Fields(given))
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %s, want %s", given, strings.Join(got, " "), want)
		}
	}
}
