package report

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

func sampleSheet(t *testing.T) *Sheet {
	t.Helper()
	s := &Sheet{Title: "Ranked by margin", Subtitle: "3 images", Tiles: []Tile{
		{Path: "cat/a.jpg", Lines: []string{"cat, 51%", "given as dog"}},
		{Path: `<script>document.title="ran"</script>` + "\u202e.jpg", Lines: []string{"<b>", "{{.}}"}},
		{Path: strings.Repeat("long", 100) + ".jpg"},
	}}
	must.Do(t, s.Fill(context.Background(), "/photos", 2, func(of dataset.Sample) ([]byte, error) {
		if strings.HasPrefix(of.Path, "long") {
			return nil, errors.New("open /photos/" + of.Path[:8] + ": permission denied")
		}
		return samplePage().Predictions[0].Thumbnail, nil
	}))
	return s
}

func TestSheet(t *testing.T) {
	var text bytes.Buffer
	must.Do(t, sampleSheet(t).Write(&text))
	for _, want := range []string{"Ranked by margin", "given as dog", `open longlong: permission denied`, `\u202e`,
		"&lt;script&gt;", "{{.}}"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the sheet lacks %q", want)
		}
	}
	for _, leak := range []string{"<script", "/photos/", "\u202e"} {
		if strings.Contains(text.String(), leak) {
			t.Errorf("the sheet has %q", leak)
		}
	}
}

// A cancelled sheet says so.
func TestSheetStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := &Sheet{Tiles: make([]Tile, 3)}
	picture := func(dataset.Sample) ([]byte, error) { return nil, ctx.Err() }
	if err := s.Fill(ctx, "", 1, picture); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSheetInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	var text bytes.Buffer
	must.Do(t, sampleSheet(t).Write(&text))
	file := filepath.Join(t.TempDir(), "sheet.html")
	must.Do(t, os.WriteFile(file, text.Bytes(), 0o644))
	p := testenv.Open(t, "file://"+filepath.ToSlash(file))
	for _, width := range []int{1280, 390} {
		p.View(width, 900, false)
		var seen struct {
			Title           string
			Tiles, Overflow int
			Number          string
		}
		p.Eval(`({title: document.title, tiles: document.querySelectorAll("li.card").length,
			overflow: document.documentElement.scrollWidth - innerWidth,
			number: getComputedStyle(document.querySelectorAll("li.card")[2], "::before").content})`, &seen)
		if seen.Title != "Ranked by margin" || seen.Tiles != 3 || seen.Overflow > 0 || seen.Number == "none" {
			t.Errorf("%d pixels: %+v", width, seen)
		}
	}
}
