package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// outDir as the destination of a report is the folder --out.
const outDir = "OUTDIR"

// A destination is the value of --json[=FILE] and --report[=DIR]: empty if the flag is
// not given, and a default if it is given alone.
type destination struct{ value, alone, kind string }

// jsonFlag adds --json[=FILE].
func jsonFlag(flags *pflag.FlagSet, usage string) {
	destinationFlag(flags, "json", streamed, "file", usage+"; - is stdout")
}

// reportFlag adds --report[=DIR].
func reportFlag(flags *pflag.FlagSet, alone, usage string) {
	destinationFlag(flags, "report", alone, "folder", usage)
}

func destinationFlag(flags *pflag.FlagSet, name, alone, kind, usage string) {
	flags.Var(&destination{alone: alone, kind: kind}, name, usage)
	flags.Lookup(name).NoOptDefVal = alone
}

// String implements pflag.Value.
func (d *destination) String() string { return d.value }

// Set implements pflag.Value. true and false are what version 0.1 took in some commands.
func (d *destination) Set(s string) error {
	switch s {
	case "true":
		d.value = d.alone
	case "false":
		d.value = ""
	default:
		d.value = s
	}
	return nil
}

// Type implements pflag.Value; help shows it.
func (d *destination) Type() string { return d.kind }

// destinationOf returns where the flag of a name sends its result, empty if it is not
// given.
func destinationOf(flags *pflag.FlagSet, name string) string {
	if f := flags.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// joined returns arguments in which a destination that follows its flag as a word of its
// own, as version 0.1 had it in eval, is the value of the flag: --json FILE is --json=FILE
// where the command would have a word too many otherwise.
func joined(root *cobra.Command, args []string) []string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd.Args == nil {
		return args
	}
	names := len(strings.Fields(cmd.CommandPath())) - 1
	words, after := []string{}, map[int]int{} // the destinations: their index in args, by word
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		if len(args[i]) < 2 || args[i][0] != '-' {
			words = append(words, args[i])
			continue
		}
		name, _, valued := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		f := cmd.Flag(name)
		if f == nil || valued {
			continue
		}
		switch _, optional := unwrapped(f).(*destination); {
		case f.NoOptDefVal == "":
			i++ // its value
		case optional && i+1 < len(args) && (args[i+1] == streamed || !strings.HasPrefix(args[i+1], "-")):
			after[len(words)] = i + 1
		}
	}
	out := slices.Clone(args)
	for word := len(words) - 1; word >= names; word-- {
		i, destined := after[word]
		if destined && (words[word] == streamed || cmd.Args(cmd, words[names:]) != nil) {
			words = slices.Delete(words, word, word+1)
			out[i-1] += "=" + out[i]
			out = slices.Delete(out, i, i+1)
		}
	}
	return out
}

// unwrapped returns the value of a flag that may be given once.
func unwrapped(f *pflag.Flag) pflag.Value {
	if o, ok := f.Value.(*once); ok {
		return o.Value
	}
	return f.Value
}
