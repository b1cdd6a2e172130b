package dataset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// walked returns what Walk yields, as a listing.
func walked(t *testing.T, root string, opts ScanOptions) Listing {
	t.Helper()
	source := must.Get(Walk(context.Background(), root, opts))(t)
	samples := slices.Collect(source.Samples(context.Background()))
	out := must.Get(source.Outcome())(t)
	if len(samples) != source.Len() {
		t.Errorf("Len %d, %d samples", source.Len(), len(samples))
	}
	out.Samples = samples
	return out
}

// linkedTree creates a tree with everything that makes the order and the linked
// folders difficult.
func linkedTree(t *testing.T) string {
	return tree(t, map[string]string{
		"a/1.jpg": "", "a/2.jpg": "", "a-b.jpg": "", "a0.jpg": "", "a.jpg": "", "b/c/3.png": "", "b/c.png": "",
		"b/c-d/4.png": "",
		"b/notes.txt": "", ".hidden/5.jpg": "", "z/plain": "\x89PNG\r\n\x1a\n........",
		"links/to_a": "->../a", "links/again": "->../a", "links/up": "->..", "links/file.jpg": "->../a/1.jpg",
		"links/broken.jpg": "->nowhere",
		"out/own.jpg":      "",
	})
}

// TestWalkIsScan: two passes without a list yield the same in the same order.
func TestWalkIsScan(t *testing.T) {
	root := linkedTree(t)
	for name, opts := range map[string]ScanOptions{
		"all":     {},
		"avoid":   {Avoid: []string{filepath.Join(root, "out")}},
		"files":   {Symlinks: FollowFiles},
		"skip":    {Symlinks: SkipLinks},
		"include": {Filter: Filter{Include: []string{"*.png", "a/**"}}},
		"exclude": {Filter: Filter{Exclude: []string{"a", "**/*-d/**"}}},
		"shard":   {Filter: Filter{Shard: Shard{2, 3}}},
	} {
		want, got := mustScan(t, root, opts), walked(t, root, opts)
		wantEqual(t, name, brief(got), brief(want))
		wantEqual(t, name+" problems", problems(got), problems(want))
		if !maps.Equal(got.Skipped, want.Skipped) {
			t.Errorf("%s: skipped %v, want %v", name, got.Skipped, want.Skipped)
		}
	}
}

func TestPatternsAndLinks(t *testing.T) {
	root := linkedTree(t)
	for _, c := range []struct {
		opts ScanOptions
		want []string
	}{
		{ScanOptions{Filter: Filter{Include: []string{"a/*"}}}, []string{"a/1.jpg=a", "a/2.jpg=a"}},
		{ScanOptions{Filter: Filter{Include: []string{"**/c/**", "a.jpg"}}}, []string{"a.jpg=", "b/c/3.png=b"}},
		{ScanOptions{Filter: Filter{Include: []string{"*.{png,gif}"}, Exclude: []string{"c"}}},
			[]string{"b/c-d/4.png=b", "b/c.png=b"}},
		{ScanOptions{Symlinks: SkipLinks,
			Filter: Filter{Exclude: []string{"b", "a", "out", "z", "a*"}, Include: []string{"*"}}}, nil},
		{ScanOptions{Symlinks: FollowFiles, Filter: Filter{Include: []string{"links/**"}}},
			[]string{"links/file.jpg=links"}},
	} {
		l, err := Scan(context.Background(), root, c.opts)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%+v: %v", c.opts, err)
		}
		wantEqual(t, fmt.Sprintf("%+v", c.opts), brief(l), c.want)
	}
	for _, bad := range []ScanOptions{{Filter: Filter{Include: []string{"[a"}}},
		{Filter: Filter{Exclude: []string{""}}}, {Symlinks: "never"}, {Filter: Filter{Shard: Shard{3, 2}}}} {
		if _, err := Scan(context.Background(), root, bad); err == nil || errors.Is(err, ErrNoImages) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestShardsPartition: every file, problem and skipped entry is in one shard.
func TestShardsPartition(t *testing.T) {
	files := map[string]string{"broken.jpg": "->nowhere", "x.mp4": "", "y.mp4": ""}
	for i := range 300 {
		files[fmt.Sprintf("%d/%d.jpg", i%7, i)] = ""
	}
	root := tree(t, files)
	whole := mustScan(t, root, ScanOptions{})
	var together Listing
	skipped := map[string]int{}
	for i := range 4 {
		l := walked(t, root, ScanOptions{Filter: Filter{Shard: Shard{i + 1, 4}}})
		if n := len(l.Samples); n < 50 || n > 100 {
			t.Errorf("shard %d has %d of 300 files", i+1, n)
		}
		together.Samples = append(together.Samples, l.Samples...)
		together.Problems = append(together.Problems, l.Problems...)
		for kind, n := range l.Skipped {
			skipped[kind] += n
		}
	}
	together.sort()
	wantEqual(t, "samples", brief(together), brief(whole))
	wantEqual(t, "problems", problems(together), problems(whole))
	if !maps.Equal(skipped, whole.Skipped) {
		t.Errorf("skipped %v, want %v", skipped, whole.Skipped)
	}
	for text, want := range map[string]Shard{"": {}, "1/1": {1, 1}, "2/8": {2, 8}} {
		if s, err := ParseShard(text); err != nil || s != want {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/-1", "0/0"} {
		if s, err := ParseShard(text); err == nil {
			t.Errorf("%q: %v", text, s)
		}
	}
}

// TestWalkSeesWhatChanged between its two passes.
func TestWalkSeesWhatChanged(t *testing.T) {
	root := tree(t, map[string]string{"a/1.jpg": "", "b/2.jpg": "", "c/3.jpg": ""})
	source := must.Get(Walk(context.Background(), root, ScanOptions{}))(t)
	for _, err := range []error{os.Remove(filepath.Join(root, "a/1.jpg")),
		os.WriteFile(filepath.Join(root, "b/new.jpg"), nil, 0o644), os.Symlink("..", filepath.Join(root, "c/loop"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for s := range source.Samples(context.Background()) {
		got = append(got, s.Path)
	}
	wantEqual(t, "samples", got, []string{"b/2.jpg", "b/new.jpg", "c/3.jpg"})
	if out, err := source.Outcome(); err != nil || len(out.Problems) != 1 {
		t.Errorf("outcome %+v, %v: want the new loop as a problem", out, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range source.Samples(ctx) {
		t.Error("a sample after the context ended")
	}
	if _, err := source.Outcome(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestKeep(t *testing.T) {
	l := Listing{Samples: []Sample{{Path: "a.jpg"}, {Path: "b.png"}}, Problems: []Problem{{Path: "x"}},
		Skipped: map[string]int{}}
	if err := l.Keep(Filter{Include: []string{"*.png"}}); err != nil || len(l.Samples) != 1 ||
		l.Skipped["filtered"] != 1 || len(l.Problems) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	if err := l.Keep(Filter{Include: []string{"["}}); err == nil {
		t.Error("a broken pattern is taken")
	}
}

func BenchmarkWalk(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		root := b.TempDir()
		for i := range n {
			dir := filepath.Join(root, fmt.Sprintf("%03d", i/500))
			if i%500 == 0 {
				must.Do(b, os.Mkdir(dir, 0o755))
			}
			must.Do(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.jpg", i)), nil, 0o644))
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				source := must.Get(Walk(context.Background(), root, ScanOptions{}))(b)
				for range source.Samples(context.Background()) {
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
			runtime.GC()
		})
	}
}
