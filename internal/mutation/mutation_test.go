package mutation

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPanicsBecomeErrors(t *testing.T) {
	err := guarded(7, func(i int, _ *rand.Rand) error { panic(i) })
	if err == nil || !strings.HasPrefix(err.Error(), "panic: 7\n") {
		t.Error(err)
	}
}

func TestBytesDependOnTheNumberAlone(t *testing.T) {
	file := bytes.Repeat([]byte("0123456789"), 20)
	others := [][]byte{file, {}, []byte("x")}
	differ := 0
	for i := range 300 {
		var out [2][]byte
		for j := range out {
			if err := guarded(i, func(_ int, rng *rand.Rand) error {
				out[j] = Bytes(rng, file, others)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(out[0], out[1]) {
			t.Errorf("file %d differs from run to run", i)
		}
		if !bytes.Equal(out[0], file) {
			differ++
		}
	}
	if differ < 250 || string(file) != strings.Repeat("0123456789", 20) {
		t.Errorf("%d of 300 copies are damaged; the original is %q", differ, file)
	}
}
