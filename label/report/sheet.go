package report

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// A Sheet is a contact sheet: numbered pictures on one self-contained page without a
// script, to look through or print.
type Sheet struct {
	Title, Subtitle string
	Tiles           []Tile
}

// A Tile is one picture of a Sheet.
type Tile struct {
	Path string
	// Box is the part of the photo that it shows, nil for all of it.
	Box *dataset.Box
	// Lines say what there is to say of the picture.
	Lines []string
	// Thumbnail is a small JPEG; without one the tile shows NoPicture.
	Thumbnail []byte
	NoPicture string
}

// Fill adds the thumbnails, of which it asks for some at a time. A picture that cannot be
// shown says why, without the folder root.
func (s *Sheet) Fill(ctx context.Context, root string, threads int,
	picture func(dataset.Sample) ([]byte, error)) error {
	return each(ctx, threads, len(s.Tiles), func(i int) {
		t := &s.Tiles[i]
		t.Thumbnail, t.NoPicture = thumbnail(root, func() ([]byte, error) {
			return picture(dataset.Sample{Path: t.Path, Box: t.Box})
		})
	})
}

// each does something for n pictures, some at a time, until ctx ends.
func each(ctx context.Context, threads, n int, do func(i int)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, threads))
	for i := range n {
		group.Go(func() error {
			do(i)
			return ctx.Err()
		})
	}
	return group.Wait()
}

// thumbnail returns that of a picture, or why there is none, without the folder root.
func thumbnail(root string, picture func() ([]byte, error)) (jpeg []byte, reason string) {
	jpeg, err := picture()
	if err != nil {
		return nil, withoutRoot(err.Error(), root)
	}
	return jpeg, ""
}

// Write writes the sheet to w. On error the output is incomplete, so write to a
// temporary file.
func (s *Sheet) Write(w io.Writer) error {
	type tile struct {
		Path, NoPicture string
		Source          template.URL
		Lines           []string
	}
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return fmt.Errorf("contact sheet: %w", err)
	}
	t, err := template.New("sheet.html").Funcs(template.FuncMap{"show": showName}).ParseFS(assets, "assets/sheet.html")
	if err != nil {
		return fmt.Errorf("contact sheet: %w", err)
	}
	tiles := make([]tile, len(s.Tiles))
	for i, from := range s.Tiles {
		tiles[i] = tile{Path: showName(from.Path), Source: dataURI("image/jpeg", from.Thumbnail),
			NoPicture: showName(cmp.Or(from.NoPicture, "no preview"))}
		for _, line := range from.Lines {
			tiles[i].Lines = append(tiles[i].Lines, showName(line))
		}
	}
	out := bufio.NewWriter(w)
	err = t.Execute(out, map[string]any{"Sheet": s, "Style": template.CSS(style), "Tiles": tiles})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write contact sheet: %w", err)
	}
	return nil
}

// withoutRoot takes the folder of the photos out of a message: a page is sent
// to others, whom the owner's folders do not concern.
func withoutRoot(message, root string) string {
	if root == "" {
		return message
	}
	return strings.ReplaceAll(message, filepath.Clean(root)+string(filepath.Separator), "")
}
