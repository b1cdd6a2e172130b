package preprocess

import (
	"bytes"
	"errors"
	"image/jpeg"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestTensorChecksItsDestination(t *testing.T) {
	p := must.Get(New(preset(t, "clip"), DefaultBudget()))(t)
	for _, n := range []int{0, 1, 3*224*224 - 1, 3*224*224 + 1} {
		if err := p.Tensor(t.Context(), make([]float32, n), readFile(t, "images", "grey.jpg")); err == nil {
			t.Errorf("accepted a destination of %d", n)
		}
	}
}

func TestFromImageChecksTheImage(t *testing.T) {
	p := must.Get(New(preset(t, "clip"), DefaultBudget()))(t)
	dst := make([]float32, 3*224*224)
	for _, m := range []Image{{}, {Width: 1, Height: 1}, {Width: -1, Height: -1, Pix: make([]byte, 3)},
		{Width: 2, Height: 1, Pix: make([]byte, 7)}} {
		if err := p.fromImage(dst, &m); err == nil {
			t.Errorf("accepted %d×%d with %d bytes", m.Width, m.Height, len(m.Pix))
		}
	}
}

// TestConcurrentCallsAgree shares one Preprocessor among goroutines that work
// through the seeds in different orders.
func TestConcurrentCallsAgree(t *testing.T) {
	s := preset(t, "vit-0.5")
	s.Size, s.Crop = 40, 32
	p := must.Get(New(s, DefaultBudget()))(t)
	seeds := seedImages(t)
	names := slices.Sorted(maps.Keys(seeds))
	want := map[string][]float32{}
	for _, name := range names {
		want[name] = make([]float32, 3*32*32)
		if err := p.Tensor(t.Context(), want[name], seeds[name]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			dst := make([]float32, 3*32*32)
			for i := range names {
				name := names[(i*(2*worker+1)+worker)%len(names)]
				if err := p.Tensor(t.Context(), dst, seeds[name]); err != nil || !slices.Equal(dst, want[name]) {
					t.Errorf("%s differs in worker %d (%v)", name, worker, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestTensorLeavesTheFileAlone(t *testing.T) {
	p := must.Get(New(preset(t, "clip"), DefaultBudget()))(t)
	dst := make([]float32, 3*224*224)
	for name, file := range seedImages(t) {
		before := bytes.Clone(file)
		must.Do(t, p.Tensor(t.Context(), dst, file))
		if !bytes.Equal(before, file) {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestThumbnail(t *testing.T) {
	for _, c := range []struct {
		file          string
		side          int
		width, height int
	}{
		{"101x77_420.jpg", 50, 50, 38},
		{"101x77_420.jpg", 500, 101, 77},
		{"noise_701x2.png", 64, 64, 1},
		{"orientation_6.jpg", 29, 18, 29},
		{"palette_alpha.png", 10, 10, 8},
	} {
		b, err := Thumbnail(t.Context(), readFile(t, "images", c.file), DefaultBudget(), c.side)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		m, err := jpeg.DecodeConfig(bytes.NewReader(b))
		if err != nil || m.Width != c.width || m.Height != c.height {
			t.Errorf("%s: %d×%d (%v), want %d×%d", c.file, m.Width, m.Height, err, c.width, c.height)
		}
	}
	if _, err := Thumbnail(t.Context(), []byte("nothing"), DefaultBudget(), 10); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
	if _, err := Thumbnail(t.Context(), readFile(t, "images", "grey.jpg"), DefaultBudget(), 0); err == nil {
		t.Error("accepted side 0")
	}
}
