package dataset_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
)

func TestPart(t *testing.T) {
	for _, c := range []struct{ path, split, want string }{
		{"train/wren/1.jpg", "", "train"}, {"Test/birds/wren/1.jpg", "", "test"}, {"train/wren/1.jpg", "TEST", "test"},
		{"wren/1.jpg", "", ""}, {"1.jpg", "", ""}, {"", "val", "val"},
	} {
		if got := (dataset.Sample{Path: c.path, Split: c.split}).Part(); got != c.want {
			t.Errorf("%q, split %q: %q, want %q", c.path, c.split, got, c.want)
		}
	}
}
