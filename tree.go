package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

const (
	// tries is the number of files of a class that are opened to find its picture.
	tries = 5
	// pictureSide is the longer side of a picture, twice the size it is shown at.
	pictureSide = 80
)

// Drawn is what DrawTree returns.
type Drawn struct {
	Classes, Pictures int

	lines lines
}

// Lines say what was drawn, for a person.
func (d *Drawn) Lines() []string { return d.lines }

// DrawTree draws the tree of a model's classes into an SVG file, each with its first picture in its
// folder below images, unless that is "".
func (s *Studio) DrawTree(ctx context.Context, i *Inspected, file, images string) (*Drawn, error) {
	m := i.Model
	head, ok := m.Predictor.Head.(classifier.Hierarchical)
	if !ok {
		return nil, fmt.Errorf("inspect %s: method %s has no tree of classes; these have: %s", i.file, m.Method,
			strings.Join(MethodsWith[classifier.Hierarchical](), ", "))
	}
	if err := Writable(file); err != nil {
		return nil, err
	}
	pictures, err := s.classPictures(ctx, m.Classes(), images)
	if err != nil {
		return nil, err
	}
	d := &Drawn{Classes: len(m.Classes()), Pictures: len(pictures)}
	title := fmt.Sprintf("%s: %s, %s", filepath.Base(i.file), m.Method, plural(d.Classes, "class", "classes"))
	err = atomicfile.Write(file, func(f *atomicfile.File) error {
		return chart.Dendrogram(f, title, drawn(head.Hierarchy(), pictures))
	})
	d.lines.add("wrote %s: %s, %d with a picture", file, plural(d.Classes, "class", "classes"), d.Pictures)
	return d, err
}

// drawn returns the tree to draw, with the pictures of its classes.
func drawn(b classifier.Branch, pictures map[string][]byte) chart.Branch {
	out := chart.Branch{Label: b.Class, Picture: pictures[b.Class]}
	for _, below := range b.Below {
		out.Below = append(out.Below, drawn(below, pictures))
	}
	return out
}

// classPictures returns a thumbnail of every class that has an image in its folder
// below images, or nothing without them.
func (s *Studio) classPictures(ctx context.Context, classes []string, images string) (map[string][]byte, error) {
	if images == "" {
		return nil, nil
	}
	if _, err := os.Stat(images); err != nil {
		return nil, fmt.Errorf("pictures of classes: %w", err)
	}
	budget, err := s.settings.Preprocess.Budget()
	if err != nil {
		return nil, err
	}
	found := make([][]byte, len(classes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.workers())
	for i, c := range classes {
		group.Go(func() error {
			if dir := filepath.FromSlash(c); filepath.IsLocal(dir) { // class names come from the model file
				found[i] = classPicture(ctx, filepath.Join(images, dir), budget)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	pictures := make(map[string][]byte)
	for i, c := range classes {
		if found[i] != nil {
			pictures[c] = found[i]
		}
	}
	return pictures, nil
}

// classPicture returns a thumbnail of the first readable image of a folder, or nil
// if there is none.
func classPicture(ctx context.Context, dir string, budget *preprocess.Budget) (jpeg []byte) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	left := tries
	for _, e := range entries {
		if !e.Type().IsRegular() || left == 0 {
			continue
		}
		left--
		err := budget.ReadFile(ctx, filepath.Join(dir, e.Name()), func(file []byte) (err error) {
			jpeg, err = preprocess.Thumbnail(ctx, file, budget, pictureSide)
			return err
		})
		if err == nil {
			return jpeg
		}
	}
	return nil
}
