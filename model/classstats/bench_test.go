package classstats

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func BenchmarkStatsAdd20000x640Of20Classes(b *testing.B) {
	const rows, d = 20000, 640
	x := make([]float32, rows*d)
	for i := range x {
		x[i] = float32(i%1013) / 1013
	}
	for range b.N {
		s := New(d, true)
		for i := range rows {
			v := x[i*d : (i+1)*d]
			id := SampleID{Class: string(rune('a' + i%20))}
			id.Content[0], id.Content[1], id.Content[2] = byte(i), byte(i>>8), byte(i>>16)
			must.Get(s.Add(id, v))(b)
		}
		must.Do(b, s.settle())
	}
}
