package command_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestCompletion: the shell is offered methods, backbones, keys and classes, and
// files only where a command takes one.
func TestCompletion(t *testing.T) {
	l := commandtest.New(t)
	model, _ := l.Trained()
	keys := must.Get(config.Keys())(t)
	for i, k := range keys {
		keys[i] = k + "="
	}
	const files, nothingElse, noSpace, folders = cobra.ShellCompDirectiveDefault, cobra.ShellCompDirectiveNoFileComp,
		cobra.ShellCompDirectiveNoSpace, cobra.ShellCompDirectiveFilterDirs
	for _, c := range []struct {
		line      string
		want      []string
		directive cobra.ShellCompDirective
	}{
		{"train --classifier ", pipeline.MethodsWith[classifier.Learner](), nothingElse},
		{"label m --backbone resnet50-v2", []string{"resnet50-v2"}, files},
		{"backbones pull dinov2-vitb", []string{"dinov2-vitb14"}, nothingElse},
		{"backbones pull dinov2-vits14 ", nil, nothingElse},
		{"datasets pull mini", []string{"mini_imagenet"}, nothingElse},
		{"forget " + model + " --class ", []string{"kiwi", "lime", "plum"}, nothingElse},
		{"forget " + model + " --class k", []string{"kiwi"}, nothingElse},
		{"forget " + l.Path("nothing") + " --class ", nil, nothingElse},
		{"label m --organise ", []string{"link", "copy"}, nothingElse},
		{"rank m --by n", []string{"novelty"}, nothingElse},
		{"train --set ", keys, nothingElse | noSpace},
		{"fscil --config cub200_d", []string{"cub200_dkl"}, files},
		{"train --images ", nil, folders},
		{"train ", nil, nothingElse},
		{"label ", nil, files},
		{"label m ", nil, nothingElse},
		{"stats merge a ", nil, files},
	} {
		var stdout, stderr bytes.Buffer
		words := strings.Split(c.line, " ")
		command.Run(context.Background(), append([]string{cobra.ShellCompNoDescRequestCmd}, words...), &stdout, &stderr)
		got := slices.DeleteFunc(strings.Fields(stdout.String()), func(offer string) bool { // as shells do
			return !strings.HasPrefix(offer, words[len(words)-1]) && offer[0] != ':'
		})
		if want := append(slices.Clone(c.want), fmt.Sprintf(":%d", c.directive)); !slices.Equal(got, want) {
			t.Errorf("%q offers %q, want %q\n%s", c.line, got, want, stderr.String())
		}
	}
}
