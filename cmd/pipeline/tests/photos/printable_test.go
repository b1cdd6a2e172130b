//go:build unix

package photos

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestNamesThatMoveTheCursor, change colours, begin a line or turn the direction do none of
// it in what commands print.
func TestNamesThatMoveTheCursor(t *testing.T) {
	l := commandtest.New(t)
	images := l.Path("images")
	names := map[string]string{"esc": "a\x1b]0;x\x07", "turn": "b\u202egnp", "line": "c\nerror: d"}
	for plain, name := range names {
		l.Photos(images, commandtest.SmallSide, 3, plain)
		must.Do(t, os.Rename(l.Path("images", plain), l.Path("images", name)))
	}
	l.Write(l.Path("images", names["esc"], names["line"]+names["turn"]+".png"), []byte("x"))
	model := l.Path("m.model")
	said := ""
	for _, args := range [][]string{
		{"train", "--images", images, "--out", model, "--classifier", "ncm"},
		{"inspect", model}, {"eval", model, "--images", images},
		{"label", model, "--images", images, "--out", l.Path("out")}, {"learn", model, "--images", images},
		{"forget", model, "--class", names["turn"]}, {"forget", model, "--class", "b\u202e"},
		{"inspect", l.Path(names["esc"])}, {"label", model, "--images", l.Path(names["turn"]), "--out", l.Path("out")},
	} {
		r := l.Run(args...)
		text := r.Stdout + r.Stderr
		if r.Code == command.ExitUsage || text == "" {
			t.Errorf("%q: exit code %d, %s", args, r.Code, text)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			control := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
			if strings.ContainsFunc(line, control) || strings.HasPrefix(line, "error: d") {
				t.Errorf("%q prints %q", args, line)
			}
		}
		said += text
	}
	for _, shown := range []string{`a\x1b]0;x\a`, `b\u202egnp`, `c\nerror: d`} {
		if !strings.Contains(said, shown) {
			t.Errorf("%s is not printed", shown)
		}
	}
}
