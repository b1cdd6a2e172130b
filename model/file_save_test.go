package model

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

func TestPreviousVersionIsKept(t *testing.T) {
	path := saved(t)
	var versions [][]byte
	for s := 1; s <= 3; s++ {
		versions = append(versions, contents(t, path))
		m := loaded(t, path)
		learn(t, m, batch(s, 2, 3, "elk"))
		save(t, m, path)
		if got := contents(t, path+previousSuffix); !bytes.Equal(got, versions[s-1]) {
			t.Errorf("session %d: the previous version is another one", s)
		}
		// Only the side files of the two versions stay.
		if n := len(names(t, filepath.Dir(path))); n != 4 {
			t.Errorf("session %d: files %v", s, names(t, filepath.Dir(path)))
		}
	}
	old := loaded(t, path+previousSuffix)
	if old.SampleCount() != 28 {
		t.Errorf("the previous version has %d samples", old.SampleCount())
	}
}

// A run killed between the link and the rename leaves both names on one file;
// POSIX rename then does nothing and would leave the temporary name.
func TestPreviousIsAlreadyTheSameFile(t *testing.T) {
	path := saved(t)
	before := contents(t, path)
	if err := os.Link(path, path+previousSuffix); err != nil {
		t.Skip("no hard links here")
	}
	m := loaded(t, path)
	learn(t, m, batch(1, 2, 3, "elk"))
	save(t, m, path)
	if !bytes.Equal(contents(t, path+previousSuffix), before) || len(names(t, filepath.Dir(path))) != 4 {
		t.Errorf("files %v", names(t, filepath.Dir(path)))
	}
}

func TestCopyWhereThereAreNoLinks(t *testing.T) {
	path := saved(t)
	if err := copyFile(path+previousSuffix, path); err != nil ||
		!bytes.Equal(contents(t, path), contents(t, path+previousSuffix)) {
		t.Errorf("copy differs: %v", err)
	}
}

func TestSaveClearsLeftovers(t *testing.T) {
	path := saved(t)
	dir := filepath.Dir(path)
	for _, name := range []string{".m.model.tmp-pipeline-1abc", filepath.Base(linkName(path + previousSuffix)),
		"m.model.stats-0123456789abcdef"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600))
	}
	for _, name := range []string{"m.model.stats-mine", "other.model.stats-0123456789abcdef"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	before := contents(t, path)
	save(t, loaded(t, path), path)
	got := names(t, dir)
	if len(got) != 4 || !slices.Contains(got, "m.model.stats-mine") ||
		!slices.Contains(got, "other.model.stats-0123456789abcdef") {
		t.Errorf("files %v", got)
	}
	if !bytes.Equal(before, contents(t, path)) {
		t.Error("the model changed")
	}
}

func TestSaveDoesNotReplaceForeignFiles(t *testing.T) {
	dir := t.TempDir()
	m := trained(t)
	for name, content := range map[string]string{"photo.jpg": "\xff\xd8\xff\xe0 not a model at all", "short": "x"} {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		if err := m.Save(path); err == nil || string(contents(t, path)) != content {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Save(dir); err == nil {
		t.Error("a folder was replaced")
	}
	if err := m.Save(filepath.Join(dir, "absent", "m")); err == nil {
		t.Error("saved into a folder that is not there")
	}
	empty := filepath.Join(dir, "empty")
	must.Do(t, os.WriteFile(empty, nil, 0o600))
	save(t, m, empty)
	loaded(t, empty)
}

// A model too old for this program is replaced when it is trained again.
func TestSaveReplacesAnOlderVersion(t *testing.T) {
	path := saved(t)
	old := repack(t, contents(t, path), func(c *container.File) { c.Metadata[container.VersionKey] = "1" })
	must.Do(t, os.WriteFile(path, old, 0o600))
	save(t, trained(t), path)
	loaded(t, path)
	if !bytes.Equal(contents(t, path+previousSuffix), old) {
		t.Error("the older version was removed")
	}
}

func TestSaveFollowsSymlink(t *testing.T) {
	path := saved(t)
	link := filepath.Join(t.TempDir(), "link.model")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here")
	}
	m := loaded(t, link)
	if o := learn(t, m, batch(1, 2, 3, "bee")); o.Added != 2 {
		t.Fatal(o)
	}
	save(t, m, link)
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Error("the link was replaced")
	}
	if len(names(t, filepath.Dir(link))) != 1 || loaded(t, path).SampleCount() != 26 {
		t.Error("the target was not replaced")
	}
}

func TestChangedMeanwhile(t *testing.T) {
	path := saved(t)
	a, b := loaded(t, path), loaded(t, path)
	learn(t, a, batch(1, 2, 3, "elk"))
	learn(t, b, batch(2, 2, 3, "fox"))
	save(t, a, path)
	if err := b.Save(path); !errors.Is(err, ErrChangedMeanwhile) {
		t.Fatalf("error %v", err)
	}
	b = loaded(t, path)
	learn(t, b, batch(2, 2, 3, "fox"))
	save(t, b, path)
	if got := loaded(t, path).Classes(); !slices.Equal(got, []string{"ant", "bee", "cat", "dog", "elk", "fox"}) {
		t.Errorf("classes %v", got)
	}
}

// Operations that need statistics are refused with the reason; the rest work.
// Who saves sees what would be replaced by what, and may keep it.
func TestReplacingIsAsked(t *testing.T) {
	path := saved(t)
	before, files := contents(t, path), names(t, filepath.Dir(path))
	m := loaded(t, path)
	present, refused := m.SHA256(), errors.New("refused")
	learn(t, m, batch(1, 2, 3, "elk"))
	var asked [2]string
	m.Replacing = func(present, next string) error { asked = [2]string{present, next}; return refused }
	if err := m.Save(path); !errors.Is(err, refused) {
		t.Errorf("Save: %v", err)
	}
	if got := names(t, filepath.Dir(path)); !bytes.Equal(contents(t, path), before) || !slices.Equal(got, files) {
		t.Errorf("files %v after a refusal, before %v", got, files)
	}
	m.Replacing = func(string, string) error { return nil }
	save(t, m, path)
	if want := [2]string{present, m.SHA256()}; asked != want {
		t.Errorf("asked about %v, want %v", asked, want)
	}
	m.Replacing = func(present, _ string) error {
		if present != "" {
			return refused
		}
		return nil
	}
	save(t, m, path) // it is the same, and not replaced
	save(t, m, filepath.Join(t.TempDir(), "new"))
}

func TestWithoutStatistics(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		says  string
	}{
		"missing": {os.Remove, "it is missing"},
		"damaged": {func(path string) error { return os.Truncate(path, 100) }, "too short"},
		"another": {func(path string) error { return os.WriteFile(path, otherStatistics(t), 0o600) },
			"does not belong to this model"},
	} {
		path := saved(t)
		before := contents(t, path)
		must.Do(t, c.spoil(loaded(t, path).StatisticsPath()))
		m := loaded(t, path)
		_, err := m.Learn(context.Background(), batch(1, 2, 3, "bee"))
		if !errors.Is(err, classifier.ErrUnsupported) || !errors.Is(err, classifier.ErrNoStatistics) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: learn: %v", name, err)
		}
		if _, err := m.ForgetSamples(context.Background(), batch(0, 1, 3, "bee"),
			Forgetting{Approximate: true}); !errors.Is(err, classifier.ErrNoStatistics) {
			t.Errorf("%s: forget: %v", name, err)
		}
		save(t, m, path)
		if !bytes.Equal(before, contents(t, path)) {
			t.Errorf("%s: saving without a change altered the model", name)
		}
		learn(t, m, batch(1, 2, 3, "elk"))
		save(t, m, path)
		m = loaded(t, path)
		if o := learn(t, m, batch(2, 2, 3, "elk")); o.Added != 2 {
			t.Errorf("%s: the new class has statistics, but: %+v", name, o)
		}
		if _, err := m.Learn(context.Background(), batch(1, 2, 3, "bee")); !errors.Is(err, classifier.ErrUnsupported) {
			t.Errorf("%s: an old class: %v", name, err)
		}
	}
}

func otherStatistics(t *testing.T) []byte {
	t.Helper()
	m := trained(t)
	learn(t, m, batch(1, 2, 3, "gnu"))
	savedAs(t, m)
	return contents(t, m.StatisticsPath())
}

func TestStatisticsSwitchedOff(t *testing.T) {
	m := faked(newFake)
	m.KeepStatistics = false
	must.Get(m.Learn(context.Background(), batch(0, 6, 3, "ant", "bee")))(t)
	path := savedAs(t, m)
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files %v", got)
	}
	m = loaded(t, path)
	_, err := m.Learn(context.Background(), batch(1, 2, 3, "bee"))
	if !errors.Is(err, classifier.ErrNoStatistics) || !strings.Contains(err.Error(), "saved without") {
		t.Errorf("error %v", err)
	}
}

func TestSaveChecksTheHead(t *testing.T) {
	m := trained(t)
	m.Sessions[0].Samples[0].Class = "unicorn"
	if err := m.Save(filepath.Join(t.TempDir(), "m")); err == nil {
		t.Error("a sample without class was saved")
	}
	m = trained(t)
	m.Predictor.Head = struct{ classifier.Learner }{m.Predictor.Head}
	if err := m.Save(filepath.Join(t.TempDir(), "m")); !errors.Is(err, classifier.ErrUnsupported) {
		t.Errorf("a head that cannot save: %v", err)
	}
}

func TestForgettingEverythingAndStartingAfresh(t *testing.T) {
	m := trained(t)
	for _, c := range slices.Clone(m.Classes()) {
		must.Get(m.ForgetClass(context.Background(), c, Forgetting{}))(t)
	}
	if m.SampleCount() != 0 {
		t.Errorf("%d samples are left", m.SampleCount())
	}
	path := savedAs(t, m)
	m = loaded(t, path)
	if o := learn(t, m, batch(0, 6, 3, "ant")); o.Added != 6 || len(o.NewClasses) != 1 {
		t.Errorf("learning again: %+v", o)
	}
}
