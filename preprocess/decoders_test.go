package preprocess

import (
	"errors"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// libraries returns a Budget with the decoders of this machine, which has all.
func libraries(tb testing.TB) *Budget {
	tb.Helper()
	b := DefaultBudget()
	d, err := b.Decoders()
	if err != nil || d.vips == nil || d.heif == nil {
		testenv.Missing(tb, "needs libvips and libheif: run make setup (%v)", err)
	}
	return b
}

func TestDecoderIsPartOfTheSpec(t *testing.T) {
	plain, b := imagenet(t), libraries(t)
	with := plain
	with.Decoder = machine(b).Name()
	if with.Fingerprint() == plain.Fingerprint() {
		t.Error("both have the same fingerprint")
	}
	if with.Geometry() != plain.Geometry() {
		t.Error("the geometry depends on the decoder")
	}
	if _, err := New(with, b); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"libraries:01234567", "turbo:0123abcd"} {
		s := plain
		s.Decoder = other
		if _, err := New(s, b); !errors.Is(err, ErrNoDecoder) {
			t.Errorf("%s: %v", other, err)
		}
	}
	if _, err := New(with, DefaultBudget().Portable()); !errors.Is(err, ErrNoDecoder) {
		t.Errorf("without the libraries: %v", err)
	}
	for _, bad := range []string{"turbo", "libraries:", "libraries:xyzxyzxy", "go", "turbo:0123abcd0"} {
		s := plain
		s.Decoder = bad
		if s.Validate() == nil {
			t.Errorf("%q is allowed", bad)
		}
	}
}
