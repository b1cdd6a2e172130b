package bench_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// A folder holds photos on disk and in memory, and what embeds them.
type folder struct {
	rig
	root    string
	samples []dataset.Sample
	files   [][]byte
}

func newFolder(b *testing.B, m backbone, n int) folder {
	b.Helper()
	f := folder{rig: newRig(b, m)}
	f.root, f.samples = photos(b, n)
	f.files = contents(b, paths(f.root, f.samples))
	f.embed(b, f.root, f.samples[:min(n, 20)]) // warm
	return f
}

// stream runs the whole job with a cold cache: files to stored embeddings.
func (f folder) stream(b *testing.B) time.Duration {
	begin := time.Now()
	f.embed(b, f.root, f.samples)
	return time.Since(begin)
}

// preprocess runs the first stage alone, from memory.
func (f folder) preprocess(b *testing.B) time.Duration {
	pixels := f.buffers(f.tensorLen())
	return onAllCores(b, len(f.files), func(worker, i int) error {
		return f.pre.Tensor(b.Context(), pixels[worker], f.files[i])
	})
}

// infer runs the second stage alone, each worker on its own photo.
func (f folder) infer(b *testing.B) time.Duration {
	pixels, rows := f.buffers(f.tensorLen()), f.buffers(f.extractor.Dim())
	for worker, p := range pixels {
		must.Do(b, f.pre.Tensor(b.Context(), p, f.files[worker]))
	}
	return onAllCores(b, len(f.files), func(worker, _ int) error { return f.extract(rows[worker], pixels[worker]) })
}

// loop runs both stages in the simplest way, without order, files, hashes or
// cache. It shows what alternating them costs by itself.
func (f folder) loop(b *testing.B) time.Duration {
	pixels, rows := f.buffers(f.tensorLen()), f.buffers(f.extractor.Dim())
	return onAllCores(b, len(f.files), func(worker, i int) error {
		if err := f.pre.Tensor(b.Context(), pixels[worker], f.files[i]); err != nil {
			return err
		}
		return f.extract(rows[worker], pixels[worker])
	})
}

func (f folder) extract(row, pixels []float32) error {
	d := len(row)
	return f.extractor.Extract(blas32.General{Rows: 1, Cols: d, Stride: d, Data: row}, pixels)
}

// buffers returns one buffer per worker.
func (f folder) buffers(n int) [][]float32 {
	made := make([][]float32, runtime.GOMAXPROCS(0))
	for i := range made {
		made[i] = make([]float32, n)
	}
	return made
}

func forEachFolder(b *testing.B, bench func(b *testing.B, m backbone, n int)) {
	for _, m := range backbones {
		for _, n := range []int{50, 200, 800} {
			b.Run(fmt.Sprintf("%s/n=%d", m.label, n), func(b *testing.B) { bench(b, m, n) })
		}
	}
}

// BenchmarkEmbedFolder compares embedding a folder with its two stages measured
// separately on the same cores, of_stages = (t_preprocess + t_infer) /
// t_folder, and with a bare loop over both, of_loop = t_loop / t_folder.
func BenchmarkEmbedFolder(b *testing.B) {
	forEachFolder(b, func(b *testing.B, m backbone, n int) {
		f := newFolder(b, m, n)
		var ms [4]tally
		var ofStages, ofLoop tally
		for b.Loop() {
			t := interleave(
				func() time.Duration { return f.preprocess(b) },
				func() time.Duration { return f.infer(b) },
				func() time.Duration { return f.loop(b) },
				func() time.Duration { return f.stream(b) },
			)
			for i := range rounds {
				for side := range ms {
					ms[side] = append(ms[side], milliseconds(t[side][i], n))
				}
				ofStages = append(ofStages, (t[0][i]+t[1][i]).Seconds()/t[3][i].Seconds())
				ofLoop = append(ofLoop, t[2][i].Seconds()/t[3][i].Seconds())
			}
		}
		ofStages.report(b, "of_stages")
		b.ReportMetric(ofLoop.median(), "of_loop")
		for side, name := range []string{"preprocess", "infer", "loop", "folder"} {
			b.ReportMetric(ms[side].median(), name+"_ms/photo")
		}
	})
}

// BenchmarkEmbedFolderPython compares with embed_peer.py; of_python is our
// speed relative to Python's.
func BenchmarkEmbedFolderPython(b *testing.B) {
	forEachFolder(b, func(b *testing.B, m backbone, n int) {
		f := newFolder(b, m, n)
		p := newPeer(b, paths(f.root, f.samples), "embed_peer.py", "--backbone", m.path(b), "--preset", m.preset,
			"--workers", fmt.Sprint(runtime.GOMAXPROCS(0)))
		against(b, p, n, func() time.Duration { return f.stream(b) })
	})
}

// against reports how our work on n photos compares with the peer's.
func against(b *testing.B, p peer, n int, work func() time.Duration) {
	var ours, theirs, ratio tally
	for b.Loop() {
		t := interleave(work, func() time.Duration { return p.round(b) })
		for i := range rounds {
			ours = append(ours, milliseconds(t[0][i], n))
			theirs = append(theirs, milliseconds(t[1][i], n))
			ratio = append(ratio, t[1][i].Seconds()/t[0][i].Seconds())
		}
	}
	ratio.report(b, "of_python")
	b.ReportMetric(ours.median(), "ms/photo")
	b.ReportMetric(theirs.median(), "python_ms/photo")
}
