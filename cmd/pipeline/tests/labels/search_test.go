package labels

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestSearchByPhoto: the nearest photo is the photo itself, then those of its class; features
// answer as the photos do.
func TestSearchByPhoto(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), commandtest.SmallSide, 4, "kiwi", "lime", "plum")
	features, s := l.Path("features"), l.Studio()
	must.Get(s.Embed(t.Context(), pipeline.EmbedRequest{From: pipeline.Folder(images), Out: features}))(t)
	const own = "lime/001.jpg"
	var found [2]*pipeline.Found
	for i, q := range []pipeline.SearchRequest{{Like: filepath.Join(images, own), From: pipeline.Folder(images)},
		{Like: own, From: pipeline.Features(features)}} {
		q.Top = 4
		found[i] = must.Get(s.Search(t.Context(), q))(t)
	}
	if !slices.Equal(found[0].Matches, found[1].Matches) || found[0].Of != 12 || len(found[0].Matches) != 4 ||
		found[0].Matches[0].Path != own {
		t.Errorf("photos: %v\nfeatures: %v", found[0], found[1])
	}
	for _, m := range found[0].Matches {
		if !strings.HasPrefix(m.Path, "lime/") {
			t.Errorf("%s is no lime", m.Path)
		}
	}
	var table strings.Builder
	must.Do(t, found[0].Write(&table))
	if said := l.Must("search", "--like", filepath.Join(images, own), "--images", images, "--top", "4", "--out",
		"-").Stdout; said != table.String() {
		t.Errorf("the command prints\n%s, want\n%s", said, &table)
	}
}

// TestSearchByWords: a text is found by its words or by its class; what cannot be searched
// for is said, and writes nothing.
func TestSearchByWords(t *testing.T) {
	l := commandtest.NewBare(t)
	features := l.Foreign(4)
	texts := l.Path("texts")
	must.Do(t, os.Mkdir(texts, 0o755))
	// the text is the first row
	data := l.Read(filepath.Join(features, "embeddings.npy"))
	row := append([]byte{}, data[:128+16]...)
	copy(row, strings.Replace(string(row[:128]), "(12, 4), }", "(1, 4), } ", 1))
	l.Write(filepath.Join(texts, "texts.npy"), row)
	l.Write(filepath.Join(texts, "texts.csv"), []byte("class,text\nfox,a photo of a fox\n"))
	var answers []string
	for _, text := range []string{"fox", "a photo of a fox"} {
		answers = append(answers, l.Must("search", "--text", text, "--texts", texts, "--features", features,
			"--top", "2", "--out", "-").Stdout)
	}
	if answers[0] != answers[1] || !strings.HasPrefix(answers[0], "path,score\n0,1\n") {
		t.Errorf("answers:\n%s\n%s", answers[0], answers[1])
	}
	out := l.Path("found.csv")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{command.ExitUsage, "either --like PHOTO or --text", nil},
		{command.ExitUsage, "either --like PHOTO or --text", []string{"--like", "0", "--text", "fox"}},
		{command.ExitUsage, "name it with --backbone", []string{"--text", "fox"}},
		{command.ExitUsage, "leave it out", []string{"--like", "0", "--texts", texts}},
		{command.ExitUsage, "1 or more", []string{"--like", "0", "--top", "0"}},
		{command.ExitFailed, "neither a text nor a class", []string{"--text", "cat", "--texts", texts}},
		{command.ExitFailed, "no row with the path", []string{"--like", "none.jpg"}},
	} {
		args := append([]string{"search", "--features", features, "--out", out}, c.args...)
		l.Refused(c.code, []string{c.says}, args...)
	}
	if l.Exists(out) {
		t.Error("a refused search has written a file")
	}
}
