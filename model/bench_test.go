package model

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// many returns a model that learned n samples.
func many(b *testing.B, n int) *Model {
	b.Helper()
	m := trained(b)
	s := Session{Index: 1}
	for i := range n {
		var h Hash
		binary.LittleEndian.PutUint64(h[:], uint64(i))
		s.Samples = append(s.Samples, SampleID{Content: h, Class: m.Classes()[i%4]})
	}
	m.Sessions = append(m.Sessions, s)
	return m
}

func BenchmarkSave1e6Samples(b *testing.B) {
	m := many(b, 1_000_000)
	path := filepath.Join(b.TempDir(), "m.model")
	for b.Loop() {
		_ = os.Remove(path) // an unchanged model is not written
		m.onDisk = version{}
		must.Do(b, m.Save(path))
	}
	info := must.Get(os.Stat(path))(b)
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}

func BenchmarkLoad1e6Samples(b *testing.B) {
	path := filepath.Join(b.TempDir(), "m.model")
	save(b, many(b, 1_000_000), path)
	for b.Loop() {
		loaded(b, path)
	}
}

func BenchmarkLearnKnown10000Of1e6Samples(b *testing.B) {
	m := many(b, 1_000_000)
	all := Batch{X: blas32.General{Rows: 10_000, Cols: 3, Stride: 3, Data: make([]float32, 30_000)}}
	for _, id := range m.Sessions[1].Samples[:10_000] {
		all.Labels, all.Content = append(all.Labels, id.Class), append(all.Content, id.Content)
	}
	for b.Loop() {
		if o := learn(b, m, all); o.Changed() {
			b.Fatal(o)
		}
	}
}
