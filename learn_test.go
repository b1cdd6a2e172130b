package pipeline_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// A late reader does something before it is read.
type late struct {
	io.Reader
	before func()
}

func (l *late) Read(p []byte) (int, error) {
	if l.before != nil {
		l.before()
		l.before = nil
	}
	return l.Reader.Read(p)
}

// TestTheBaseIsReadOnce: a request on a model that was taught reads the model that the journal starts from
// once, before it reads what to learn.
func TestTheBaseIsReadOnce(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	paint(t, dir)
	p := must.Get(pipeline.Open(ctx, pipeline.WithCache(filepath.Join(dir, "cache")),
		pipeline.WithNetwork(testenv.Small(t))))(t)
	file, holiday := filepath.Join(dir, "a.model"), filepath.Join(dir, "photos", "holiday")
	train := pipeline.Folder(filepath.Join(dir, "photos", "train"))
	must.Get2(p.Train(ctx, train, pipeline.Into(file)))(t)
	teaching := must.Get(p.Teach(ctx, pipeline.TeachRequest{Model: file, From: pipeline.Folder(holiday)}))(t)
	must.Do(t, teaching.Decide(ctx, "sky", filepath.Join(holiday, "2.png")))
	must.Do(t, teaching.Close())
	base := file + ".base"
	was := must.Get(os.ReadFile(base))(t)
	list := &late{strings.NewReader("new/sand/0.png,sand\nnew/sand/1.png,sand\n"), func() {
		if err := os.WriteFile(base, bytes.Repeat([]byte{0}, len(was)), 0o644); err != nil {
			t.Error(err)
		}
	}}
	l := must.Get(p.Learn(ctx, pipeline.LearnRequest{Model: file, From: pipeline.Source{
		Images: filepath.Join(dir, "photos"), List: "-", Stdin: list,
	}}))(t)
	if list.before != nil || !slices.Contains(l.Model.Classes(), "sand") {
		t.Errorf("it knows %q", l.Model.Classes())
	}
}
