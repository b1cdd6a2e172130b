package embedding

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

func TestStreamOrderAndValues(t *testing.T) {
	root, samples := photos(t, 100)
	for _, batch := range []int{1, 4, 7, 1000} {
		for _, window := range []int{0, 1, 3} {
			b := newBench(nil, batch)
			b.Window = window
			items, counts := b.run(t, root, samples)
			wantItems(t, items, samples)
			if counts.Inferred != 100 || counts.Total != 100 || counts.Read != 100 || counts.Bytes == 0 {
				t.Fatalf("batch %d window %d: %+v", batch, window, counts)
			}
			for _, n := range b.extractor.batches {
				if n > batch {
					t.Fatalf("batch of %d, limit %d", n, batch)
				}
			}
		}
	}
}

func TestStreamSecondRunComputesAndReadsNothing(t *testing.T) {
	root, samples := photos(t, 40)
	dir := t.TempDir()
	cache := mustCache(t, dir)
	newBench(cache, 2).run(t, root, samples)
	must.Do(t, cache.Close())
	b := newBench(mustCache(t, dir), 2)
	items, counts := b.run(t, root, samples)
	wantItems(t, items, samples)
	if want := (Counts{Total: 40, Cached: 40}); counts != want || b.opened.Load() != 0 {
		t.Fatalf("%+v, extractor opened %d times", counts, b.opened.Load())
	}
}

func TestStreamKnowsMovedAndTouchedContent(t *testing.T) {
	root, samples := photos(t, 10)
	cache := mustCache(t, t.TempDir())
	newBench(cache, 1).run(t, root, samples)
	must.Do(t, os.Rename(filepath.Join(root, samples[0].Path), filepath.Join(root, "moved.jpg")))
	samples[0].Path = "moved.jpg"
	writePhoto(t, filepath.Join(root, samples[1].Path), "IMG other") // same mtime, other size
	b := newBench(cache, 1)
	items, counts := b.run(t, root, samples)
	if counts.Cached != 9 || counts.Inferred != 1 || counts.Read != 2 {
		t.Fatalf("%+v", counts)
	}
	if !items[0].Cached || !slices.Equal(items[1].Vector, expected("IMG other")) {
		t.Fatalf("%+v", items[:2])
	}
}

func TestStreamSameContentOnce(t *testing.T) {
	root := t.TempDir()
	var samples []dataset.Sample
	for i := range 60 {
		s := dataset.Sample{Path: fmt.Sprintf("%02d.jpg", i)}
		writePhoto(t, filepath.Join(root, s.Path), contentOf(i%2))
		samples = append(samples, s)
	}
	b := newBench(mustCache(t, t.TempDir()), 4)
	items, counts := b.run(t, root, samples)
	for i, item := range items {
		if !slices.Equal(item.Vector, expected(contentOf(i%2))) {
			t.Fatalf("item %d: %+v", i, item)
		}
		item.Vector[0] = -1 // owned by the receiver: must have no effect elsewhere
	}
	if b.extractor.rows.Load() != 2 || counts.Inferred != 2 || counts.Cached != 58 {
		t.Fatalf("%d rows computed, %+v", b.extractor.rows.Load(), counts)
	}
}

func TestStreamBadFilesAreItems(t *testing.T) {
	root, samples := photos(t, 6)
	bad := map[string]string{"text.jpg": "not a photo", "huge.jpg": "too large", "gone.jpg": "no such file",
		"dir.jpg": "not a regular file", "empty.jpg": "not a photo"}
	writePhoto(t, filepath.Join(root, "text.jpg"), "hello")
	writePhoto(t, filepath.Join(root, "huge.jpg"), "IMG"+strings.Repeat("x", 2<<20))
	writePhoto(t, filepath.Join(root, "empty.jpg"), "")
	writePhoto(t, filepath.Join(root, "dir.jpg", "x"), "")
	for name := range bad {
		samples = append(samples, dataset.Sample{Path: name})
	}
	b := newBench(mustCache(t, t.TempDir()), 2)
	var err error
	if b.Budget, err = preprocess.NewBudget(1 << 20); err != nil {
		t.Fatal(err)
	}
	items, counts := b.run(t, root, samples)
	wantItems(t, items[:6], samples[:6])
	for _, item := range items[6:] {
		want := bad[item.Sample.Path]
		if item.Err == nil || !strings.Contains(item.Err.Error(), want) || strings.Contains(item.Err.Error(), root) {
			t.Errorf("%s: %v, want %q", item.Sample.Path, item.Err, want)
		}
	}
	if counts.Failed != 5 || counts.Total != 11 {
		t.Errorf("%+v", counts)
	}
}

// TestStreamNaNIsARowError: the rest of its batch is kept.
func TestStreamNaNIsARowError(t *testing.T) {
	root, samples := photos(t, 5)
	cache := mustCache(t, t.TempDir())
	for _, batch := range []int{1, 3, 5} {
		b := newBench(cache, batch)
		b.Open = Opened(nanExtractor{b.extractor})
		items, counts := b.run(t, root, samples)
		wantItems(t, items[:4], samples[:4])
		if items[4].Err == nil || items[4].Vector != nil || items[4].Sample != samples[4] || counts.Failed != 1 ||
			stored(cache, 5) != 4 {
			t.Fatalf("batch %d: %+v, %+v, %d stored", batch, items[4], counts, stored(cache, 5))
		}
	}
}

// nanExtractor returns NaN for content 4 and reports it as the extractor does.
type nanExtractor struct{ *fakeExtractor }

func (e nanExtractor) Extract(dst blas32.General, pixels []float32) error {
	err := e.fakeExtractor.Extract(dst, pixels)
	for i := range dst.Rows {
		row := dst.Data[i*dst.Stride : i*dst.Stride+dst.Cols]
		if slices.Equal(row, expected(contentOf(4))) {
			row[1] = float32(math.NaN())
			err = &extractor.NonFiniteError{Row: i}
		}
	}
	return err
}

func TestStreamFatalErrors(t *testing.T) {
	root, samples := photos(t, 20)
	boom := errors.New("boom")
	emitted := 0
	for name, set := range map[string]func(*bench) func(Item) error{
		"open": func(b *bench) func(Item) error {
			b.Open = func() (Extractor, error) { return nil, boom }
			return func(Item) error { return nil }
		},
		"extract": func(b *bench) func(Item) error {
			b.extractor.before = func(int) error { return boom }
			return func(Item) error { return nil }
		},
		"emit": func(*bench) func(Item) error {
			return func(Item) error {
				if emitted++; emitted == 20 {
					return boom
				}
				return nil
			}
		},
	} {
		b := newBench(nil, 2)
		if _, err := b.Run(context.Background(), root, samples, set(b)); !errors.Is(err, boom) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := newBench(nil, 1)
	b.Side = 3
	if _, err := b.Run(context.Background(), root, samples, nil); err == nil ||
		!strings.Contains(err.Error(), "2×2 pixels") {
		t.Errorf("side: %v", err)
	}
	if _, err := (&Stream{}).Run(context.Background(), root, samples, nil); err == nil {
		t.Error("empty Stream")
	}
}

func TestStreamCancel(t *testing.T) {
	root, samples := photos(t, 50)
	ctx, cancel := context.WithCancel(context.Background())
	b := newBench(mustCache(t, t.TempDir()), 1)
	n := 0
	counts, err := b.Run(ctx, root, samples, func(Item) error {
		if n++; n == 5 {
			cancel()
		}
		return nil
	})
	if err != context.Canceled || n != 5 || counts.Total != 5 {
		t.Fatalf("%v after %d items, %+v", err, n, counts)
	}
	if _, err := b.Run(ctx, root, samples, nil); err != context.Canceled {
		t.Fatal(err)
	}
	again := newBench(b.Cache, 1) // nothing is computed again
	_, counts = again.run(t, root, samples)
	if total := counts.Inferred + int(b.extractor.rows.Load()); total != 50 {
		t.Fatalf("%d embeddings computed in all", total)
	}
}

// An item must be emitted before the next sample is known.
func TestStreamSeqDoesNotHoldBack(t *testing.T) {
	root, samples := photos(t, 10)
	got := make(chan struct{}, 1)
	b := newBench(nil, 4)
	var items []Item
	must.Get(b.runSeq(context.Background(), root, func(yield func(dataset.Sample) bool) {
		for _, s := range samples {
			if !yield(s) {
				return
			}
			<-got
		}
	}, func(i Item) error {
		items = append(items, i)
		got <- struct{}{}
		return nil
	}))(t)
	wantItems(t, items, samples)
}

func TestStreamEmpty(t *testing.T) {
	items, counts := newBench(nil, 1).run(t, t.TempDir(), nil)
	if len(items) != 0 || counts != (Counts{}) {
		t.Fatal(items, counts)
	}
}

func ExampleStream() {
	root, err := os.MkdirTemp("", "photos")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	os.WriteFile(filepath.Join(root, "a.jpg"), []byte("IMG a"), 0o644)
	os.WriteFile(filepath.Join(root, "b.jpg"), []byte("broken"), 0o644)

	b := newBench(nil, 1) // stands for a preprocess.Preprocessor and an extractor.Extractor
	stream := Stream{Preprocessor: b.Preprocessor, Open: b.Open, Side: fakeSide}
	samples := []dataset.Sample{{Path: "a.jpg"}, {Path: "b.jpg"}}
	counts, err := stream.Run(context.Background(), root, samples, func(item Item) error {
		fmt.Println(item.Sample.Path, len(item.Vector), item.Err)
		return nil
	})
	fmt.Println(counts.Inferred, counts.Failed, err)
	// Output:
	// a.jpg 5 <nil>
	// b.jpg 0 not a photo
	// 1 1 <nil>
}
