package embedding

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// severalSquares is a fakePreprocessor of 1 to 3 squares per picture, by its hash. Of pictures
// with three the last fails if bad is set.
type severalSquares struct {
	fakePreprocessor
	bad bool
}

func squaresIn(file []byte) int { return 1 + int(cache.HashOf(file)[9])%3 }

func (p severalSquares) Tensors(ctx context.Context, file []byte, use func(func(dst []float32) error) error) error {
	return p.fakePreprocessor.Tensors(ctx, file, func(tensor func(dst []float32) error) error {
		n := squaresIn(file)
		for i := range n {
			err := use(func(dst []float32) error {
				if p.bad && i == 2 {
					return errNotAPhoto
				}
				err := tensor(dst)
				for j := range dst {
					dst[j] += float32(2 * i)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// TestSquaresAreAveraged: whatever the batch, an embedding is the mean over its squares, a
// picture that fails takes no other with it, and what is stored needs no computing.
func TestSquaresAreAveraged(t *testing.T) {
	root, samples := photos(t, 40)
	for _, batch := range []int{1, 2, 3, 5, 64} {
		for _, bad := range []bool{false, true} {
			dir := t.TempDir()
			rows := int64(0)
			for pass := range 2 {
				b := newBench(mustCache(t, dir), batch)
				b.Preprocessor = severalSquares{fakePreprocessor{new(atomic.Int64)}, bad}
				items, counts := b.run(t, root, samples)
				rows += b.extractor.rows.Load()
				if counts.Total != 40 || slices.Max(append(b.extractor.batches, 0)) > batch {
					t.Fatalf("batch %d: %+v, batches of %v", batch, counts, b.extractor.batches)
				}
				checkMeans(t, items, bad)
				if pass == 1 && (!bad && counts.Cached != 40 || counts.Inferred != 0) {
					t.Errorf("batch %d: the second pass computes again: %+v", batch, counts)
				}
				must.Do(t, b.Cache.Close())
			}
			want := int64(0)
			for i := range samples {
				if n := squaresIn([]byte(contentOf(i))); n < 3 || !bad {
					want += int64(n)
				}
			}
			if rows != want {
				t.Errorf("batch %d, bad %v: %d squares are computed, want %d", batch, bad, rows, want)
			}
		}
	}
}

func checkMeans(t *testing.T, items []Item, bad bool) {
	t.Helper()
	for i, item := range items {
		n := squaresIn([]byte(contentOf(i)))
		if bad && n == 3 {
			if item.Err == nil || item.Vector != nil {
				t.Fatalf("photo %d fails and has %+v", i, item)
			}
			continue
		}
		want := expected(contentOf(i))
		for j := range want {
			want[j] += float32(2 * (n - 1)) // 2 times the mean of 0, 2 … 2(n-1)
		}
		if item.Err != nil || !slices.Equal(item.Vector, want) {
			t.Fatalf("photo %d of %d squares: %v (%v), want %v", i, n, item.Vector, item.Err, want)
		}
	}
}
