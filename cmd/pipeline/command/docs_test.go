package command_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

var (
	update = flag.Bool("update", false, "write docs/cli instead of comparing with it")
	manual = flag.String("manual", "", "write manual pages into this folder")
)

const docsDir = "../../../docs/cli"

// TestCommandDocs compares docs/cli with the help of the commands; with -update
// it writes docs/cli.
func TestCommandDocs(t *testing.T) {
	want := commandDocs(t)
	if *update {
		writeDocs(t, want)
	}
	have := map[string]string{}
	entries, err := os.ReadDir(docsDir)
	if err != nil {
		t.Fatalf("%v: run make docs-update", err)
	}
	for _, e := range entries {
		text := must.Get(os.ReadFile(filepath.Join(docsDir, e.Name())))(t)
		have[e.Name()] = string(text)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] != want[name] {
			t.Errorf("docs/cli/%s is out of date: run make docs-update", name)
		}
		delete(have, name)
	}
	for name := range have {
		t.Errorf("docs/cli/%s belongs to no command: run make docs-update", name)
	}
}

// TestPagesDescribeEveryOption: a page names each option of its command, and it or the page of the
// program says what that means.
func TestPagesDescribeEveryOption(t *testing.T) {
	pages := commandDocs(t)
	everyCommand(command.NewRoot(), func(cmd *cobra.Command) {
		page := pages[pageOf(cmd)]
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			if f.Name != "help" && !f.Hidden && (!strings.Contains(page, "--"+f.Name) ||
				!strings.Contains(page+pages["pipeline.md"], usage)) {
				t.Errorf("the page of %s does not describe --%s", cmd.CommandPath(), f.Name)
			}
		})
	})
}

func pageOf(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "_") + ".md"
}

func writeDocs(t *testing.T, pages map[string]string) {
	t.Helper()
	must.Do(t, os.RemoveAll(docsDir))
	must.Do(t, os.MkdirAll(docsDir, 0o755))
	for name, text := range pages {
		must.Do(t, os.WriteFile(filepath.Join(docsDir, name), []byte(text), 0o644))
	}
}

// several is how many commands describe an option in the same words before their pages only name it.
const several = 4

var (
	// inherited matches the options that every command has, which the page of the program lists.
	inherited = regexp.MustCompile("(?s)### Options inherited from parent commands\n\n```\n.*?\n```\n")
	// nearby matches the commands above and below, which the contents list.
	nearby = regexp.MustCompile("(?s)### SEE ALSO\n.*")
	// askHelp matches --help of a command.
	askHelp = regexp.MustCompile("(?m)^  -h, --help .*\n")
	// option matches an option, with its value, and what it means.
	option = regexp.MustCompile("(?m)^      ((--[a-z-]+)(?: \\S+)?)  +(.+)\n")
)

// What pages have in place of the options of all commands, and without options of their own.
const (
	everyOption = "[Options of every command](pipeline.md#options), [all commands](README.md)\n"
	noOptions   = "### Options\n\n```\n```\n\n"
)

// commandDocs returns a page for every command, and README.md that lists them.
func commandDocs(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	contents := "# The commands\n\nWritten by `make docs-update` from the program's own help; do not edit.\n\n"
	everyCommand(command.NewRoot(), func(cmd *cobra.Command) {
		cmd.DisableAutoGenTag = true
		var page bytes.Buffer
		must.Do(t, doc.GenMarkdown(cmd, &page))
		text := nearby.ReplaceAllString(page.String(), "")
		if cmd.HasParent() {
			text = askHelp.ReplaceAllString(inherited.ReplaceAllString(text, everyOption), "")
		}
		pages[pageOf(cmd)] = strings.TrimRight(text, "\n") + "\n"
		contents += fmt.Sprintf("- [%s](%s): %s\n", cmd.CommandPath(), pageOf(cmd), cmd.Short)
	})
	describeOnce(pages)
	pages["README.md"] = contents
	return pages
}

// describeOnce moves what several commands say of an option in the same words to the page of the
// program; their pages name it.
func describeOnce(pages map[string]string) {
	described := func(option []string) string { return fmt.Sprintf("      %-27s   %s\n", option[1], option[3]) }
	times := map[string]int{}
	for _, page := range pages {
		for _, o := range option.FindAllStringSubmatch(page, -1) {
			times[described(o)]++
		}
	}
	for name, page := range pages {
		var named []string
		page = option.ReplaceAllStringFunc(page, func(line string) string {
			o := option.FindStringSubmatch(line)
			if times[described(o)] < several {
				return line
			}
			named = append(named, "`"+o[2]+"`")
			return ""
		})
		if named != nil {
			also := "Also, [as in other commands](pipeline.md#shared-options): " + strings.Join(named, ", ") + ".\n\n"
			page = strings.Replace(page, everyOption, also+everyOption, 1)
		}
		pages[name] = strings.Replace(page, noOptions, "", 1)
	}
	maps.DeleteFunc(times, func(_ string, n int) bool { return n < several })
	pages["pipeline.md"] += "\n### Shared options\n\nThose that several commands have:\n\n```\n" +
		strings.Join(slices.Sorted(maps.Keys(times)), "") + "```\n\n[All commands](README.md)\n"
}

// TestManual makes a manual page for every command; with -manual it writes them
// into that folder, dated by $SOURCE_DATE_EPOCH.
func TestManual(t *testing.T) {
	seconds, _ := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	date := time.Unix(seconds, 0).UTC()
	everyCommand(command.NewRoot(), func(cmd *cobra.Command) {
		cmd.DisableAutoGenTag = true
		var page bytes.Buffer
		if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Date: &date, Source: "pipeline " + command.Version()},
			&page); err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		if !strings.Contains(page.String(), ".SH SYNOPSIS") {
			t.Errorf("%s has no synopsis", name)
		}
		if *manual != "" {
			must.Do(t, os.WriteFile(filepath.Join(*manual, name), page.Bytes(), 0o644))
		}
	})
}

// everyCommand visits a command and all its sub-commands that help shows.
func everyCommand(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			everyCommand(sub, visit)
		}
	}
}

// TestCommandDocsAreTheSameEverywhere: the pages contain no paths of this machine.
func TestCommandDocsAreTheSameEverywhere(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("no home folder")
	}
	cwd := must.Get(os.Getwd())(t)
	for name, text := range commandDocs(t) {
		for _, place := range []string{home + "/", filepath.Dir(cwd), os.TempDir() + "/"} {
			if strings.Contains(text, place) {
				t.Errorf("%s mentions %s", name, place)
			}
		}
	}
}
