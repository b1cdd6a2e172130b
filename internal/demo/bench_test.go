package demo

import "testing"

func BenchmarkPicture19Classes(b *testing.B) {
	for b.Loop() {
		for _, c := range allClasses() {
			if _, err := c.render(1, "bench"); err != nil {
				b.Fatal(err)
			}
		}
	}
}
