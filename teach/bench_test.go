package teach

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

// BenchmarkDecision is one decision among 100 000 photos and 100 classes of 20
// examples, until the order of what to check is known, then its undo and its redo.
// PIPELINE_LONG is needed: it takes minutes.
func BenchmarkDecision(b *testing.B) {
	if os.Getenv("PIPELINE_LONG") == "" {
		b.Skip("set PIPELINE_LONG")
	}
	for _, d := range []int{512, 1280} {
		b.Run(fmt.Sprintf("n=100000/C=100/d=%d", d), func(b *testing.B) { benchmarkDecision(b, 100_000, 100, d) })
	}
}

func benchmarkDecision(b *testing.B, n, classes, d int) {
	dir := b.TempDir()
	rng := random.Stream(1, "bench")
	means := make([][]float32, classes)
	for c := range means {
		for range d {
			means[c] = append(means[c], float32(rng.NormFloat64()))
		}
	}
	draw := func(i int) (Photo, []float32) {
		v := make([]float32, d)
		for j := range v {
			v[j] = means[i%classes][j] + float32(2*rng.NormFloat64())
		}
		return Photo{ID: ID{byte(i), byte(i >> 8), byte(i >> 16), 1}, Path: fmt.Sprintf("%06d.jpg", i)}, v
	}
	const shots = 20
	train := model.Batch{X: blas32.General{Cols: d, Stride: d}}
	for i := range classes * shots {
		p, v := draw(i)
		train.X.Rows, train.X.Data = train.X.Rows+1, append(train.X.Data, v...)
		train.Labels = append(train.Labels, fmt.Sprintf("class %d", i%classes))
		train.Content = append(train.Content, model.Hash{p.ID[0], p.ID[1], 99})
	}
	begun := time.Now()
	m, _ := must.Get2(model.Train(b.Context(), settings("plda"), train))(b)
	trained := time.Since(begun)
	must.Do(b, m.Save(dir+"/m.model"))
	begun = time.Now()
	before := cpu(b)
	s := must.Get(Open(Options{Model: dir + "/m.model", Dim: d, Temp: dir}))(b)
	defer s.Close()
	var first, firstCPU time.Duration
	for at := 0; at < n; at += 500 {
		var photos []Photo
		var vectors [][]float32
		for i := range 500 {
			p, v := draw(at + i)
			photos, vectors = append(photos, p), append(vectors, v)
		}
		must.Do(b, s.Add(photos, vectors))
		if first == 0 {
			must.Get(s.List(Query{View: All, Limit: 60}))(b)
			first, firstCPU = time.Since(begun), cpu(b)-before
		}
	}
	s.Wait()
	loaded := time.Since(begun)
	took, used := map[string][]float64{}, map[string]time.Duration{}
	status := func() (Line, error) {
		if st := s.Status(); st.Account.Photos != n {
			b.Fatalf("the account has %d photos", st.Account.Photos)
		}
		return Line{}, nil
	}
	measure := func(what string, change func() (Line, error)) {
		begun, before := time.Now(), cpu(b)
		must.Get(change())(b)
		must.Get(s.List(Query{View: Check, Limit: 60}))(b)
		took[what], used[what] = append(took[what], time.Since(begun).Seconds()), used[what]+cpu(b)-before
	}
	for b.Loop() {
		i := len(took["decision"]) % (n / 2)
		measure("decision", func() (Line, error) {
			return s.Do(Decision{Do: Label, Images: []ID{s.photos[i].ID}, Class: fmt.Sprintf("class %d", i%classes)})
		})
		measure("status", status)
		measure("undo", s.Undo)
		measure("redo", s.Redo)
	}
	for what, times := range took {
		slices.Sort(times)
		b.ReportMetric(used[what].Seconds()/float64(len(times)), "s-of-CPU/"+what)
		b.ReportMetric(times[len(times)/2], "s/"+what+"-p50")
		b.ReportMetric(times[len(times)*95/100], "s/"+what+"-p95")
	}
	b.ReportMetric(trained.Seconds(), "s/train")
	b.ReportMetric(first.Seconds(), "s/first-photos")
	b.ReportMetric(firstCPU.Seconds(), "s-of-CPU/first-photos")
	b.ReportMetric(loaded.Seconds(), "s/loaded")
	b.ReportMetric(peak(b), "MiB-peak")
}

// peak returns the most memory that the process has had, in MiB.
func peak(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	var kB float64
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	must.Get(fmt.Sscan(after, &kB))(b)
	return kB / 1024
}

// cpu returns the processor time that the process has used, which a busy machine does
// not change.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStart opens a session whose journal has 20 000 decisions since the last fit, of a kind that
// makes none due, until it answers: corrections of 400 photos, undo and redo of them, and a class that is
// renamed and renamed. Without a line it is the fit to the photos that were named.
func BenchmarkStart(b *testing.B) {
	const photos, d = 400, 640
	w := newWorldOf(20, 60, d)
	id := func(i int) []ID { return []ID{w.photos[i%photos].ID} }
	for _, kind := range []struct {
		name  string
		lines int
		line  func(i, seq int) Line
	}{
		{"none", 0, nil},
		{"corrections", 20_000, func(i, _ int) Line {
			return Line{Decision: Decision{Do: Label, Images: id(i), Class: fmt.Sprintf("class %d", i/photos%20)}}
		}},
		{"undos-and-redos", 20_000, func(i, seq int) Line {
			if i == 0 {
				return Line{Decision: Decision{Do: Label, Images: id(i), Class: "class 1"}}
			}
			return Line{Decision: Decision{Do: []Do{Redo, Undo}[i%2], Of: seq - i}}
		}},
		{"renames", 20_000, func(i, _ int) Line {
			return Line{Decision: Decision{Do: Rename, Class: fmt.Sprint("name ", i), To: fmt.Sprint("name ", i+1)}}
		}},
	} {
		b.Run(fmt.Sprintf("lines=%d/photos=%d/d=%d/%s", kind.lines, len(w.photos), d, kind.name), func(b *testing.B) {
			dir := b.TempDir()
			s := w.openAt(b, dir, "plda")
			for i := range photos {
				class := w.truth[w.photos[i].ID]
				if class == "class 0" {
					class = "name 0"
				}
				do(b, s, Decision{Do: Label, Images: id(i), Class: class})
			}
			s.Wait()
			must.Do(b, s.Close())
			decided(b, dir, kind.lines, kind.line)
			b.ResetTimer()
			used, lines := time.Duration(0), 0
			for range b.N {
				before := cpu(b)
				s := w.openAt(b, dir, "plda")
				s.Wait()
				must.Get(s.List(Query{View: Check, Limit: 60}))(b)
				used, lines = used+cpu(b)-before, len(s.state.lines)
				must.Do(b, s.Close())
			}
			if lines <= kind.lines {
				b.Fatalf("%d lines", lines)
			}
			b.ReportMetric(used.Seconds()/float64(b.N), "s-of-CPU/start")
		})
	}
}

// decided adds n decisions to the journal in a folder.
func decided(b *testing.B, dir string, n int, line func(i, seq int) Line) {
	b.Helper()
	file := filepath.Join(dir, "m.model"+journalSuffix)
	lines := must.Get(readLines(file))(b)
	f := must.Get(os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0))(b)
	w := json.NewEncoder(f)
	for i := range n {
		seq := len(lines) + 1 + i
		l := line(i, seq)
		l.Seq = seq
		must.Do(b, w.Encode(l))
	}
	must.Do(b, f.Close())
}
