package embedding

import (
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/preprocess"
)

func TestMemorySetting(t *testing.T) {
	for text, want := range map[string]int64{
		"512MiB": 512 << 20, "1MiB": 1 << 20, "2GiB": 2 << 30, "64 MiB": 64 << 20,
	} {
		p := DefaultPreprocess()
		p.Memory = text
		b, err := p.Budget()
		if err != nil || b.Bytes() != want || p.Validate() != nil {
			t.Errorf("%q: %v, want %d", text, err, want)
		}
	}
	for _, text := range []string{"", "512", "MiB", "0MiB", "-1GiB", "1.5GiB", "512MB", "99999999999GiB", "automatic"} {
		p := DefaultPreprocess()
		p.Memory = text
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), "memory:") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if b, err := DefaultPreprocess().Budget(); err != nil || b.Bytes() > preprocess.DefaultMemory {
		t.Errorf("auto: %v", err)
	}
}

// TestDefaultMemory is the same on every machine with 2 GiB or more.
func TestDefaultMemory(t *testing.T) {
	for total, want := range map[int64]int64{0: 512 << 20, 1 << 40: 512 << 20, 2 << 30: 512 << 20, 1 << 30: 256 << 20,
		256 << 20: 64 << 20, 1 << 20: 16 << 20} {
		if got := defaultMemory(total); got != want {
			t.Errorf("%d bytes: %d, want %d", total, got, want)
		}
	}
}
