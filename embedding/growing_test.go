package embedding

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A copying is a patient whose clock begins when a file was last changed, and who goes on copying while it sleeps.
func copying(t *testing.T, file string, parts ...string) *patient {
	t.Helper()
	now := must.Get(cache.Stat(file))(t).Changed()
	return &patient{
		now: func() time.Time { return now },
		sleep: func(_ context.Context, d time.Duration) error {
			now = now.Add(d)
			if len(parts) > 0 {
				must.Do(t, os.WriteFile(file, []byte(parts[0]), 0o644))
				parts, now = parts[1:], must.Get(cache.Stat(file))(t).Changed()
			}
			return nil
		},
	}
}

// TestPhotosThatAreBeingCopied are read when they are whole, with or without boxes; another of which there is as much
// already has no part in it.
func TestPhotosThatAreBeingCopied(t *testing.T) {
	for what, box := range map[string]*dataset.Box{"photo": nil, "box": {Number: 1, X: 0.1, W: 0.2, H: 0.2}} {
		t.Run(what, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, "a.jpg")
			must.Do(t, os.WriteFile(file, []byte("IM"), 0o644))
			sample := dataset.Sample{Path: "a.jpg"}
			if box != nil {
				sample = box.In(sample)
			}
			b := newBench(mustCache(t, t.TempDir()), 2)
			b.Workers, b.growing = 1, copying(t, file, "", "I", "IMG whole")
			items, _ := b.run(t, root, []dataset.Sample{sample})
			want := ContentHash(cache.HashOf([]byte("IMG whole")), box)
			if items[0].Err != nil || items[0].Hash != want || len(items[0].Vector) != fakeDim {
				t.Errorf("%+v", items[0])
			}
		})
	}
}

// TestWhatIsNotBeingCopied is judged as it is: a file that stays damaged, is gone meanwhile or never ends.
func TestWhatIsNotBeingCopied(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "a.jpg")
	run := func(p *patient) Item {
		b := newBench(nil, 2)
		b.growing = p
		items, _ := b.run(t, root, []dataset.Sample{{Path: "a.jpg"}})
		return items[0]
	}
	must.Do(t, os.WriteFile(file, []byte("IM"), 0o644))
	if item := run(copying(t, file)); !errors.Is(item.Err, errNotAPhoto) {
		t.Errorf("damaged: %+v", item)
	}
	endless := copying(t, file)
	endless.sleep = func(context.Context, time.Duration) error { return os.WriteFile(file, []byte("IM"), 0o644) }
	begun, asked := endless.now(), time.Duration(0)
	endless.now = func() time.Time { asked += time.Second; return begun.Add(asked) }
	if item := run(endless); !errors.Is(item.Err, errNotAPhoto) {
		t.Errorf("without end: %+v", item)
	}
	left := copying(t, file)
	left.leave = true
	if item := run(left); !errors.Is(item.Err, ErrGrowing) {
		t.Errorf("left for later: %+v", item)
	}
	gone := copying(t, file)
	gone.sleep = func(context.Context, time.Duration) error { return os.Remove(file) }
	if item := run(gone); !errors.Is(item.Err, os.ErrNotExist) {
		t.Errorf("gone: %+v", item)
	}
}

// TestReplacedInPlace: content of the same size and time in the same file is read where the system tells when a file
// was changed.
func TestReplacedInPlace(t *testing.T) {
	root, samples := photos(t, 2)
	c := mustCache(t, t.TempDir())
	newBench(c, 1).run(t, root, samples)
	file := filepath.Join(root, samples[1].Path)
	before := must.Get(cache.Stat(file))(t)
	if before.CtimeNs == 0 {
		t.Skip("this system does not tell")
	}
	for must.Get(cache.Stat(file))(t).CtimeNs == before.CtimeNs { // until its clock ticks
		writePhoto(t, file, "IMG X")
	}
	items, counts := newBench(c, 1).run(t, root, samples)
	if counts.Cached != 1 || counts.Read != 1 || !slices.Equal(items[1].Vector, expected("IMG X")) {
		t.Errorf("%+v", counts)
	}
}
