package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/build"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
)

// version is set by release builds with -ldflags "-X …/command.version=…".
var version = "0.3.0"

// firstSteps is what the program says when it is called without a command.
const firstSteps = `Label folders of photos and learn new classes from a few examples.

Everything on a page in the browser, from choosing a folder to exported labels:

  pipeline start

See it work on drawn pictures, in half a minute:

  pipeline demo

With your own photos, a few of each class in a folder of its own:

  pipeline setup
  pipeline train --images photos/train --out animals.model
  pipeline label animals.model --images photos/holiday --out labels
  pipeline serve animals.model --images photos/holiday

"pipeline doctor" says what works on this machine, "pipeline --help" lists the commands,
"pipeline completion bash --help" (zsh, fish, powershell) lets the shell complete them.
`

// NewRoot returns the command line.
func NewRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "pipeline",
		Short: "Label folders of photos and learn new classes from a few examples",
		Long: `Images are resized, normalised and passed through a frozen ONNX backbone.
Probabilistic classifiers learn from the embeddings. They learn new classes from a
few images without forgetting the old ones.`,
		Example:       "  pipeline demo",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), firstSteps)
			return err
		},
	}
	root.SetVersionTemplate(fmt.Sprintf("pipeline version {{.Version}} (commit %s, %s, %s)\n",
		cmp.Or(build.Commit(), "unknown"), build.Go(), build.System()))
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(wrongFlag)
	commonFlags(root)
	root.SetHelpCommand(newHelp())
	root.AddCommand(
		newDemo(), newSetup(), newDoctor(), newEmbed(), newTrain(), newLearn(), newForget(),
		newLabel(), newServe(), newStart(), newRank(), newSearch(), newEval(), newInspect(), newBackbones(),
		newFSCIL(), newExperiment(),
		newDatasets(), newStats(), newPrior(), newExport(), newRows(),
	)
	completions(root)
	giveOnce(root)
	return root
}

// knownCommand returns a usage error if the first argument is not a command. The
// error names a similar one, if there is any.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	hint := suggest.Sentence(args[0], names)
	if flag := cmd.Flags().Lookup(args[0]); flag != nil {
		hint = fmt.Sprintf("; did you mean --%s?", flag.Name)
	}
	return usagef("unknown command %q%s %s --help lists the commands", args[0], hint, cmd.CommandPath())
}

// newHelp replaces cobra's help command, which succeeds whatever the topic.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err == nil && topic.HasSubCommands() {
				err = knownCommand(topic, rest)
			}
			if err != nil {
				return err
			}
			topic.InitDefaultHelpFlag()
			topic.InitDefaultVersionFlag()
			return topic.Help()
		},
	}
}

// group makes cmd the parent of commands; alone it prints its help.
func group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = knownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// newList returns the command "list" of a parent.
func newList(parent, short string, list func(a *app) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   short,
		Example: "  pipeline " + parent + " list",
		Args:    arguments,
		RunE:    command(func(_ context.Context, a *app, _ []string) error { return list(a) }),
	}
	jsonFlag(cmd.Flags(), "write the list as JSON")
	return cmd
}

func commonFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.String("config", "", "YAML `file` with settings (see configs/reference.yaml)")
	flags.StringArray("set", nil, "set a setting, as `key=value`; may be repeated")
	flags.Uint64("seed", 0, "seed of all random numbers")
	flags.Int("threads", 0, "images processed in parallel (default: all cores)")
	flags.String("cache", "", "`folder` for embeddings and backbones (default: the user's cache folder)")
	flags.String("log", "text", "format of the log on stderr: text or json")
	flags.BoolP("quiet", "q", false, "print no progress and no remarks, only warnings, errors and results")
	bind(flags, "", "seed", "threads", "cache", "log", "quiet")
}

// bind makes flags set the keys of a section that have their names.
func bind(flags *pflag.FlagSet, section string, names ...string) {
	for _, name := range names {
		config.Bind(flags, name, section+strings.ReplaceAll(name, "-", "_"))
	}
}

// inputFlags adds the named flags for images or features.
func inputFlags(cmd *cobra.Command, names ...string) {
	usage := map[string]string{
		"images": "`folder` of images, whose folders are classes",
		"list": "`file` that lists images: paths, or a table (CSV, JSON lines, Parquet), relative to --images, else " +
			"to its own folder; - for stdin",
		"features": "`folder` of embeddings, by pipeline embed, or of embeddings.npy and perhaps samples.csv",
	}
	for _, name := range names {
		cmd.Flags().String(name, "", usage[name])
		switch name {
		case "images":
			classFlags(cmd)
		case "list":
			columnFlags(cmd)
		}
	}
	bind(cmd.Flags(), "", names...)
}

// classFlags adds the flags that say which classes images have.
func classFlags(cmd *cobra.Command) {
	cmd.Flags().String("class-from", "",
		"folder that names the class: top (first level), leaf (the image's own), path (such as fruit/apple) or root "+
			"(all are one class) (default: top; leaf in a list without labels)")
	cmd.Flags().StringArray("drop-label", nil,
		"leave out a `class` such as \"Not sure\"; may be repeated")
	bind(cmd.Flags(), "scan.", "class-from", "drop-label")
}

// columnFlags adds the flags that say how to read a list.
func columnFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.String("path-column", "",
		"`column` of a list with the paths: a name, or a number from 1 (default: path, or guess)")
	f.String("label-from", "",
		"`column` of a list, or group of choices of Label Studio, with the classes (default: label, or guess); also "+
			"--label-column")
	f.String("path-suffix", "", "`suffix` that paths in a list lack, such as .jpg (default: guess)")
	bind(f, "scan.", "path-column", "path-suffix")
	config.Bind(f, "label-from", "scan.label_column")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "label-column" { // its first name
			name = "label-from"
		}
		return pflag.NormalizedName(name)
	})
}

// scanFlags adds the flags that select files of a folder or list.
func scanFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArray("include", nil,
		"read only files that match a glob `pattern`: *.jpg, 2024/**; may be repeated")
	f.StringArray("exclude", nil, "skip files and folders that match a glob `pattern`; may be repeated")
	f.String("symlinks", string(dataset.FollowLinks),
		"symbolic links: follow, files (only links to files) or skip")
	f.String("shard", "", "process only part `i/n` of the files, into shard-i-of-n in --out")
	bind(f, "scan.", "include", "exclude", "symlinks", "shard")
}

// boxFlags adds the flags that read boxes of photos instead of whole ones.
func boxFlags(cmd *cobra.Command) {
	cmd.Flags().String("boxes", "",
		"`file` of boxes (MegaDetector's or COCO's JSON): each is an image, photo.jpg#1")
	cmd.Flags().Float64("min-confidence", config.Default().Boxes.MinConfidence,
		"leave out boxes with less `confidence`, 0 to 1")
	config.Bind(cmd.Flags(), "boxes", "boxes.file")
	config.Bind(cmd.Flags(), "min-confidence", "boxes.min_confidence")
}

// outFlag adds --out.
func outFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().String("out", "", usage)
	config.Bind(cmd.Flags(), "out", "out")
}

// backboneFlag adds --backbone.
func backboneFlag(cmd *cobra.Command) {
	cmd.Flags().String("backbone", "",
		"ONNX `file`, or a name from backbones list (default: the model's; of a new one efficientnet-lite0)")
	config.Bind(cmd.Flags(), "backbone", "backbone")
}
