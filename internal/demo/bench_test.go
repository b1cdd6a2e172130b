package demo

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func BenchmarkPicture19Classes(b *testing.B) {
	for b.Loop() {
		for _, c := range allClasses() {
			must.Get(c.render(1, "bench"))(b)
		}
	}
}
