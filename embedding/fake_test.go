package embedding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

const (
	fakeSide = 2
	fakeDim  = 5
)

var errNotAPhoto = errors.New("not a photo")

// fakePreprocessor derives pixels from the hash of a file that starts with
// "IMG".
type fakePreprocessor struct{ calls *atomic.Int64 }

func (p fakePreprocessor) Tensors(_ context.Context, file []byte, use func(func(dst []float32) error) error) error {
	p.calls.Add(1)
	if !bytes.HasPrefix(file, []byte("IMG")) {
		return errNotAPhoto
	}
	h := cache.HashOf(file)
	return use(func(dst []float32) error {
		for i := range dst {
			dst[i] = float32(h[i])
		}
		return nil
	})
}

// Boxes derives pixels from the file and the box.
func (p fakePreprocessor) Boxes(ctx context.Context, file []byte, boxes []preprocess.Box,
	use func(i int, tensor func(dst []float32) error) error) error {
	p.calls.Add(1)
	if !bytes.HasPrefix(file, []byte("IMG")) {
		return errNotAPhoto
	}
	for i, b := range boxes {
		err := use(i, func(dst []float32) error {
			if b.W > 0.9 {
				return errNotAPhoto
			}
			for j := range dst {
				dst[j] = float32(len(file)) + float32(b.X)*1000
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fakeExtractor computes a known function of the pixels and counts its calls.
type fakeExtractor struct {
	batch   int
	before  func(n int) error // may be nil
	rows    atomic.Int64
	mu      sync.Mutex
	batches []int
}

func (e *fakeExtractor) Dim() int   { return fakeDim }
func (e *fakeExtractor) Side() int  { return fakeSide }
func (e *fakeExtractor) Batch() int { return e.batch }

func (e *fakeExtractor) Extract(dst blas32.General, pixels []float32) error {
	e.rows.Add(int64(dst.Rows))
	e.mu.Lock()
	e.batches = append(e.batches, dst.Rows)
	e.mu.Unlock()
	if e.before != nil {
		if err := e.before(dst.Rows); err != nil {
			return err
		}
	}
	size := len(pixels) / dst.Rows
	for i := range dst.Rows {
		for j := range dst.Cols {
			dst.Data[i*dst.Stride+j] = 2*pixels[i*size+j] + 1
		}
	}
	return nil
}

// expected returns the fakes' embedding of a file.
func expected(content string) []float32 {
	h := cache.HashOf([]byte(content))
	v := make([]float32, fakeDim)
	for j := range v {
		v[j] = 2*float32(h[j]) + 1
	}
	return v
}

func contentOf(i int) string { return fmt.Sprintf("IMG %d", i) }

// photos writes n files that were last modified long ago.
func photos(t testing.TB, n int) (root string, samples []dataset.Sample) {
	t.Helper()
	root = t.TempDir()
	for i := range n {
		s := dataset.Sample{Path: fmt.Sprintf("c%d/%04d.jpg", i%3, i), Label: fmt.Sprintf("c%d", i%3)}
		writePhoto(t, filepath.Join(root, s.Path), contentOf(i))
		samples = append(samples, s)
	}
	return root, samples
}

func writePhoto(t testing.TB, path, content string) {
	t.Helper()
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	must.Do(t, errors.Join(
		os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, []byte(content), 0o644),
		os.Chtimes(path, old, old),
	))
}

func testNamespace() cache.Namespace { return cache.Namespace{Extractor: "fake", Preprocess: "fake"} }

func mustCache(t testing.TB, dir string) *cache.Cache {
	t.Helper()
	c := must.Get(cache.Open(dir, testNamespace(), nil))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// bench is a Stream over fakes.
type bench struct {
	Stream
	extractor *fakeExtractor
	tensors   atomic.Int64
	opened    atomic.Int64
}

// stored counts the photos 0…n-1 that are in a cache.
func stored(c *cache.Cache, n int) (found int) {
	for i := range n {
		if _, ok := c.Get(cache.HashOf([]byte(contentOf(i)))); ok {
			found++
		}
	}
	return found
}

func newBench(c *cache.Cache, batch int) *bench {
	b := &bench{extractor: &fakeExtractor{batch: batch}}
	b.Stream.Preprocessor = fakePreprocessor{&b.tensors}
	b.Stream.Open = func() (Extractor, error) {
		b.opened.Add(1)
		return b.extractor, nil
	}
	b.Stream.Side = fakeSide
	b.Stream.Workers = 3
	b.Stream.Cache = c
	return b
}

func (b *bench) run(t testing.TB, root string, samples []dataset.Sample) ([]Item, Counts) {
	t.Helper()
	var items []Item
	counts := must.Get(b.Run(context.Background(), root, samples, func(i Item) error {
		items = append(items, i)
		return nil
	}))(t)
	return items, counts
}

// wantItems checks order and vectors of a run over photos.
func wantItems(t testing.TB, items []Item, samples []dataset.Sample) {
	t.Helper()
	if len(items) != len(samples) {
		t.Fatalf("%d items, want %d", len(items), len(samples))
	}
	for i, item := range items {
		if item.Sample != samples[i] || item.Err != nil || !slices.Equal(item.Vector, expected(contentOf(i))) {
			t.Fatalf("item %d: %+v", i, item)
		}
		if item.Hash != cache.HashOf([]byte(contentOf(i))) {
			t.Fatalf("item %d: hash", i)
		}
	}
}
