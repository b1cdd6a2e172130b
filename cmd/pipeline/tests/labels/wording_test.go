package labels

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/words/textencoder/textencodertest"
)

// coloured writes n photos of each colour into folders of their names.
func coloured(l *commandtest.Bed, n int) string {
	for name, c := range map[string]color.RGBA{"red": {R: 220}, "green": {G: 220}, "blue": {B: 220}} {
		for i := range n {
			photo := image.NewRGBA(image.Rect(0, 0, 16, 16))
			for p := 0; p < len(photo.Pix); p += 4 {
				copy(photo.Pix[p:], []uint8{c.R + uint8(p%7), c.G + uint8(9*i), c.B + uint8(i), 255})
			}
			var file bytes.Buffer
			must.Do(l, png.Encode(&file, photo))
			l.Write(l.Path("photos", name, fmt.Sprintf("%d.png", i)), file.Bytes())
		}
	}
	return l.Path("photos")
}

// TestWordsOfANetwork: from a list of names to labelled photos, with no photo to learn from,
// and with some; the same by way of a folder of texts.
func TestWordsOfANetwork(t *testing.T) {
	orttest.Open(t)
	l := commandtest.New(t)
	photos := coloured(l, 3)
	network := textencodertest.Write(t, t.TempDir())
	names := l.Path("names.txt")
	l.Write(names, []byte("007-Red_Photo\ngreen\nblue\n"))

	l.Must("embed", "--texts", names, "--backbone", network, "--out", l.Path("texts"))
	rows := l.Table(l.Path("texts"), "texts.csv")
	if len(rows) != 1+3*7 || rows[1][0] != "007-Red_Photo" || rows[1][1] != "a photo of a Red Photo." {
		t.Errorf("texts: %q", rows)
	}
	text := l.Object(l.Path("texts"), "meta.json")["text"].(map[string]any)
	if text["length"] != 77.0 || text["output"] != "text_embeds" || len(text["templates"].([]any)) != 7 {
		t.Errorf("meta.json: %v", text)
	}

	models := []string{l.Path("file.model"), l.Path("folder.model")}
	l.Must("train", "--texts", names, "--backbone", network, "--out", models[0])
	l.Must("train", "--texts", l.Path("texts"), "--backbone", network, "--out", models[1])
	for i, model := range models {
		out := l.Path(fmt.Sprint("labels", i))
		l.Must("label", model, "--images", photos, "--out", out)
		for _, row := range l.Table(out, "labels.csv")[1:] {
			folder, _, _ := strings.Cut(row[0], "/")
			if !strings.Contains(strings.ToLower(row[1]), folder) {
				t.Errorf("%s is labelled %s", row[0], row[1])
			}
		}
	}

	// Names of new classes, and photos, are learned on top.
	l.Write(names, []byte("class;text\nyellow;a yellow one\n"))
	l.Must("learn", models[0], "--texts", names)
	if r := l.Must("inspect", models[0], "--json"); !strings.Contains(r.Stdout, "yellow") ||
		!strings.Contains(r.Stdout, text["sha256"].(string)) {
		t.Errorf("the model has no yellow, or no text side: %s", r.Stdout)
	}
	l.Must("learn", models[0], "--images", photos)
	l.Write(names, []byte("red\ngreen\nblue\n"))
	trained := l.Must("train", "--texts", names, "--images", photos, "--backbone", network, "--out",
		l.Path("both.model"))
	if !strings.Contains(trained.Stdout, "words      the names of 3 classes") {
		t.Errorf("train says:\n%s", trained.Stdout)
	}

	// Search: photos and features, with the words as they are.
	l.Must("embed", "--images", photos, "--backbone", network, "--out", l.Path("features"))
	for _, in := range [][]string{{"--images", photos, "--backbone", network}, {"--features", l.Path("features")}} {
		r := l.Must(append([]string{"search", "--text", "something GREEN", "--top", "3", "--out", "-"}, in...)...)
		for _, line := range strings.Split(strings.TrimSpace(r.Stdout), "\n")[1:] {
			if !strings.HasPrefix(line, "green/") {
				t.Errorf("found %s", line)
			}
		}
	}
}

// TestWordsOfBothSides: a CLIP exported as one graph reads photos and texts.
func TestWordsOfBothSides(t *testing.T) {
	both := shared.Path(t, "cases/26-clip-combined")
	orttest.Open(t)
	l := commandtest.New(t)
	network := l.Path("clip.onnx")
	l.Write(network, l.Read(filepath.Join(both, "clip_combined.onnx")))
	l.Write(l.Path("tokenizer.json"), textencodertest.Vocabulary(t)) // of as many tokens
	l.Write(l.Path("names.txt"), []byte("red\nblue\n"))
	l.Must("embed", "--texts", l.Path("names.txt"), "--backbone", network, "--out", l.Path("texts"))
	if rows := l.Table(l.Path("texts"), "texts.csv"); len(rows) != 1+2*7 {
		t.Errorf("texts: %q", rows)
	}
	out := l.Must("search", "--text", "red", "--images", filepath.Join(both, "photos"), "--backbone", network,
		"--out", "-").Stdout
	if strings.Count(out, ".jpg,") != 2 {
		t.Errorf("found:\n%s", out)
	}
}

// TestWordsRefused: what lacks is named, before any photo is read, and nothing is written.
func TestWordsRefused(t *testing.T) {
	orttest.Open(t)
	l := commandtest.New(t)
	dir := t.TempDir()
	network := textencodertest.Write(t, dir)
	names, out := l.Path("names.txt"), l.Path("out")
	l.Write(names, []byte("red\ngreen\n"))
	l.Write(l.Path("empty.txt"), nil)
	l.Write(l.Path("bad.json"), []byte(`{"model": {"type": "WordPiece"}}`))
	l.Write(l.Path("other", "x.txt"), []byte("mine"))
	features := l.Foreign(5)
	for _, c := range []struct {
		code int
		says []string
		args []string
	}{
		{command.ExitFailed, []string{"no text side", "text.network"}, []string{"embed", "--texts", names, "--backbone",
			testenv.Small(t), "--out", out}},
		{command.ExitFailed, []string{"not pulled", "pipeline backbones pull clip-b32"}, []string{"embed", "--texts",
			names, "--backbone", "clip-b32", "--out", out}},
		{command.ExitFailed, []string{"no such file"}, []string{"train", "--texts", l.Path("none.txt"), "--out", out}},
		{command.ExitFailed, []string{"no classes"}, []string{"train", "--texts", l.Path("empty.txt"), "--out", out}},
		{command.ExitFailed, []string{"4", "5"}, []string{"train", "--texts", names, "--features", features,
			"--backbone", network, "--out", out}},
		{command.ExitUsage, []string{"--backbone"}, []string{"train", "--texts", names, "--features", features, "--out",
			out}},
		{command.ExitFailed, []string{"bad.json", `"WordPiece"`}, []string{"embed", "--texts", names, "--backbone",
			network, "--tokenizer", l.Path("bad.json"), "--out", out}},
		{command.ExitFailed, []string{"x.txt", "--out"}, []string{"embed", "--texts", names, "--backbone", network,
			"--out", l.Path("other")}},
		{command.ExitUsage, []string{"two different inputs"}, []string{"embed", "--texts", names, "--images", dir,
			"--out", out}},
		{command.ExitUsage, []string{"how to read images"}, []string{"embed", "--texts", names, "--shard", "1/2",
			"--out", out}},
		{command.ExitUsage, []string{"is a folder"}, []string{"embed", "--texts", dir, "--out", out}},
		{command.ExitUsage, []string{"text.templates", "{}"}, []string{"embed", "--texts", names, "--set",
			"text.templates=[no place]", "--out", out}},
		{command.ExitUsage, []string{"--texts", "folder"}, []string{"search", "--text", "red", "--texts", names,
			"--images", dir, "--out", out}},
		{command.ExitFailed, []string{"another backbone"}, []string{"search", "--text", "red", "--features",
			embeddedByDefault(l), "--backbone", network, "--out", out}},
	} {
		l.Refused(c.code, c.says, c.args...)
	}
	if l.Exists(out) {
		t.Error("a refused command has written something")
	}
	entries, err := os.ReadDir(l.Path("other"))
	if err != nil || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "x.txt" }) {
		t.Errorf("another folder was changed: %v, %v", entries, err)
	}
	must.Do(t, os.Remove(filepath.Join(dir, textencodertest.Tokenizer)))
	l.Refused(command.ExitFailed, []string{"tokenizer.json", "--tokenizer"}, "embed", "--texts", names, "--backbone",
		network, "--out", out)
}

// embeddedByDefault returns features of the built-in network.
func embeddedByDefault(l *commandtest.Bed) string {
	photos := l.Photos(l.Path("some"), commandtest.SmallSide, 1, "kiwi")
	l.Must("embed", "--images", photos, "--backbone", testenv.Small(l.TB), "--out", l.Path("some-features"))
	return l.Path("some-features")
}
