package mutation

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestPanicsBecomeErrors(t *testing.T) {
	err := guarded(7, func(i int, _ *rand.Rand) error { panic(i) })
	if err == nil || !strings.HasPrefix(err.Error(), "panic: 7\n") {
		t.Error(err)
	}
}

// TestInsideKeepsTheBeginning: most copies keep the first bytes; the beginning and the end are reached by some.
func TestInsideKeepsTheBeginning(t *testing.T) {
	file := bytes.Repeat([]byte("0123456789"), 100)
	var first, last, stay int
	for i := range 2000 {
		_ = guarded(i, func(_ int, rng *rand.Rand) error {
			b := Inside(rng, file, [][]byte{file})
			if !bytes.HasPrefix(b, file[:64]) {
				first++
			} else if bytes.HasPrefix(b, file[:400]) {
				stay++
			}
			if !bytes.HasSuffix(b, file[900:]) {
				last++
			}
			return nil
		})
	}
	if first == 0 || first > 400 || last == 0 || stay < 700 {
		t.Errorf("of 2000 copies %d differ in the first 64 bytes, %d in the last 100; %d keep 400", first, last, stay)
	}
}

func TestBytesDependOnTheNumberAlone(t *testing.T) {
	file := bytes.Repeat([]byte("0123456789"), 20)
	others := [][]byte{file, {}, []byte("x")}
	differ := 0
	for i := range 300 {
		var out [2][]byte
		for j := range out {
			must.Do(t, guarded(i, func(_ int, rng *rand.Rand) error {
				out[j] = Bytes(rng, file, others)
				return nil
			}))
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
