package bench_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// BenchmarkPhonePhotosPython compares embedding photos as phones make them, and
// small ones, with embed_peer.py, whose Pillow decodes large photos at reduced size
// too. Ours decodes with libvips, as after make setup, and in Go: of_python and go_of_python are their speeds
// relative to Python with draft 448, which keeps twice the network's input as we
// do; draft_224_of_python is Python's with the smallest scale possible.
func BenchmarkPhonePhotosPython(b *testing.B) {
	b.Run("4000x3000/n=96", func(b *testing.B) {
		root, samples := phonePhotos(b, 96)
		phoneBench(b, root, samples)
	})
	b.Run("300x240/n=600", func(b *testing.B) {
		root, samples := photos(b, 600)
		phoneBench(b, root, samples)
	})
}

func phoneBench(b *testing.B, root string, samples []dataset.Sample) {
	m := backbones[1]
	native := newRig(b, m)
	inGo := native
	inGo.pre = portablePreprocessor(b, m.preset)
	python := func(draft int) peer {
		return newPeer(b, paths(root, samples), "embed_peer.py", "--backbone", m.path(b), "--preset", m.preset,
			"--workers", fmt.Sprint(runtime.GOMAXPROCS(0)), "--draft", fmt.Sprint(draft))
	}
	same, small := python(448), python(224)
	ours := func(r rig) func() time.Duration {
		return func() time.Duration {
			begin := time.Now()
			r.embed(b, root, samples)
			return time.Since(begin)
		}
	}
	names := []string{"libvips", "go", "python", "python_224"}
	ms, ratios := make([]tally, len(names)), make([]tally, len(names))
	for b.Loop() {
		t := interleave(ours(native), ours(inGo), func() time.Duration { return same.round(b) },
			func() time.Duration { return small.round(b) })
		for side := range names {
			for round, d := range t[side] {
				ms[side] = append(ms[side], milliseconds(d, len(samples)))
				ratios[side] = append(ratios[side], t[2][round].Seconds()/d.Seconds())
			}
		}
	}
	ratios[0].report(b, "of_python")
	b.ReportMetric(ratios[1].median(), "go_of_python")
	b.ReportMetric(ratios[3].median(), "draft_224_of_python")
	for side, name := range names {
		b.ReportMetric(ms[side].median(), name+"_ms/photo")
	}
}

// phonePhotos writes n files of 12 megapixels, copies of three drawn pictures that
// differ only in a comment, so that each is embedded by itself.
func phonePhotos(b *testing.B, n int) (root string, samples []dataset.Sample) {
	b.Helper()
	drawings := contents(b, []string{drawn(b, 4000, 3000), drawn(b, 4032, 3024), drawn(b, 3000, 4000)})
	root = b.TempDir()
	for i := range n {
		file := drawings[i%len(drawings)]
		comment := fmt.Appendf(nil, "\xff\xfe\x00\x06%04d", i) // length: two bytes of its own and four digits
		file = bytes.Join([][]byte{file[:2], comment, file[2:]}, nil)
		name := fmt.Sprintf("%03d.jpg", i)
		must.Do(b, os.WriteFile(filepath.Join(root, name), file, 0o644))
		samples = append(samples, dataset.Sample{Path: name})
	}
	return root, samples
}
