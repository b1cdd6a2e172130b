package labels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestSearchByPhoto: the nearest photo is the photo itself, then those of its class; features
// answer as the photos do.
func TestSearchByPhoto(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), commandtest.SmallSide, 4, "kiwi", "lime", "plum")
	paths, err := filepath.Glob(filepath.Join(images, "lime", "*"))
	if err != nil || len(paths) != 4 {
		t.Fatalf("%d photos, %v", len(paths), err)
	}
	out, own := l.Path("found.csv"), "lime/"+filepath.Base(paths[1])
	l.Must("search", "--like", paths[1], "--images", images, "--top", "4", "--out", out)
	found := strings.Split(strings.TrimSpace(string(l.Read(out))), "\n")
	if len(found) != 5 || found[0] != "path,score" || !strings.HasPrefix(found[1], own+",") {
		t.Fatalf("found:\n%s", strings.Join(found, "\n"))
	}
	for _, line := range found[1:] {
		if !strings.HasPrefix(line, "lime/") {
			t.Errorf("%s is no lime", line)
		}
	}
	features := l.Path("features")
	l.Must("embed", "--images", images, "--out", features)
	r := l.Must("search", "--like", own, "--features", features, "--top", "4", "--out", "-")
	if r.Stdout != string(l.Read(out)) {
		t.Errorf("features:\n%s\nphotos:\n%s", r.Stdout, l.Read(out))
	}
}

// TestSearchByWords: a text is found by its words or by its class; what cannot be searched
// for is said, and writes nothing.
func TestSearchByWords(t *testing.T) {
	l := commandtest.NewBare(t)
	features := l.Foreign(4)
	texts := l.Path("texts")
	if err := os.Mkdir(texts, 0o755); err != nil {
		t.Fatal(err)
	}
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
