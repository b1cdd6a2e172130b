package command

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/configs"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/organise"
	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/research/fscil/benchmark"
)

// completions makes the shell offer the values of flags and the arguments of every
// command. What it cannot find out, such as the classes of a file that is not a
// model, it leaves out: a completion has nowhere to report an error.
func completions(root *cobra.Command) {
	values := flagValues()
	for _, cmd := range append(allCommands(root), root) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { register(cmd, f, values) })
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = argumentValues(cmd)
		}
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { register(root, f, values) })
}

func allCommands(cmd *cobra.Command) (all []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		all = append(append(all, sub), allCommands(sub)...)
	}
	return all
}

func register(cmd *cobra.Command, flag *pflag.Flag, values map[string]cobra.CompletionFunc) {
	if complete, ok := values[flag.Name]; ok && flag.Value.Type() != "bool" {
		if err := cmd.RegisterFlagCompletionFunc(flag.Name, complete); err != nil {
			panic(err) // the flag is not defined: a programming error
		}
	}
}

// flagValues says, by the name of a flag, which values it may have.
func flagValues() map[string]cobra.CompletionFunc {
	folders := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return map[string]cobra.CompletionFunc{
		"images": folders, "features": folders, "lists": folders, "cache": folders, "report": folders,
		"cluster-unknown": folders,
		"classifier":      oneOf(pipeline.MethodsWith[classifier.Learner]()...),
		"class":           classesOfModel,
		"backbone":        backboneOrFile,
		"set":             settings,
		"config":          configurations,
		"by":              oneOf(rank.Criteria()...),
		"format":          oneOf(label.Formats()...),
		"symlinks":        oneOf(dataset.LinkPolicies()...),
		"class-from":      oneOf(dataset.ClassRules()...),
		"organise":        oneOf(string(organise.Links), string(organise.Copies)),
		"log":             oneOf("text", "json"),
	}
}

// argumentValues says what a command takes besides flags: files if its usage names
// one, otherwise nothing.
func argumentValues(cmd *cobra.Command) cobra.CompletionFunc {
	_, takes, _ := strings.Cut(cmd.Use, " ")
	takes, _, _ = strings.Cut(takes, " ")
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if takes == "STATS..." || len(args) == 0 && (takes == "MODEL" || takes == "FILE") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func oneOf(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

func classesOfModel(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	m, err := model.Load(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return m.Classes(), cobra.ShellCompDirectiveNoFileComp
}

// backboneOrFile completes names from the catalogue and files.
func backboneOrFile(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return backboneNames(func(backbone.Entry) bool { return true }), cobra.ShellCompDirectiveDefault
}

// pullable offers the backbones that pipeline backbones pull can fetch.
func pullable(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return backboneNames(backbone.Entry.Pullable), cobra.ShellCompDirectiveNoFileComp
}

func backboneNames(wanted func(backbone.Entry) bool) (names []cobra.Completion) {
	entries, _ := backbone.Catalogue()
	for _, e := range entries {
		if wanted(e) {
			names = append(names, cobra.CompletionWithDesc(e.Name, e.Description))
		}
	}
	return names
}

func benchmarks(_ *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	if all, err := benchmark.All(); err == nil && len(args) == 0 {
		for _, lists := range all {
			names = append(names, lists.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// settings offers the keys of --set, to which the user adds a value.
func settings(*cobra.Command, []string, string) (keys []cobra.Completion, _ cobra.ShellCompDirective) {
	known, _ := config.Keys()
	for _, key := range known {
		keys = append(keys, key+"=")
	}
	return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// configurations offers the built-in configurations beside files.
func configurations(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	_, names, _ := configs.Named("")
	return names, cobra.ShellCompDirectiveDefault
}
