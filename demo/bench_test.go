package demo

import "testing"

func BenchmarkPicture18Classes(b *testing.B) {
	all := append(knownClasses(), unknownClasses()...)
	for b.Loop() {
		for _, c := range all {
			if _, err := c.picture(1, "bench"); err != nil {
				b.Fatal(err)
			}
		}
	}
}
