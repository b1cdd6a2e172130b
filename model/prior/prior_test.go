package prior

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

const d = 5

// set returns n embeddings of each class, and one of the class "alone".
func set(t testing.TB, name string, n int, classes ...string) *classstats.Stats {
	t.Helper()
	s, rng := classstats.New(d, true), random.Stream(1, "model/prior/test", len(name))
	add := func(class string, i int) {
		row := make([]float32, d)
		for j := range row {
			row[j] = float32(len(class)%3) + float32(rng.NormFloat64())/float32(1+j)
		}
		must.Get(s.Add(id(name, class, i), row))(t)
	}
	for _, class := range classes {
		for i := range n {
			add(class, i)
		}
	}
	add("alone", 0)
	return s
}

func id(name, class string, i int) classstats.SampleID {
	out := classstats.SampleID{Class: class}
	copy(out.Content[:], name+class+string(rune('a'+i)))
	return out
}

func made(t testing.TB, sets ...*classstats.Stats) *Prior {
	t.Helper()
	p := &Prior{}
	for _, s := range sets {
		must.Do(t, p.Add(t.Context(), linalg.Backend{}, s, nil))
	}
	return p
}

// P is Σ (n−1)·covariance / Σ (n−1) over the classes of all sets, although two sets
// have a class of the same name.
func TestPriorPoolsTheClassesOfAllSets(t *testing.T) {
	sets := []*classstats.Stats{set(t, "one", 4, "a", "bb"), set(t, "two", 9, "a", "ccc", "d")}
	p := made(t, sets...)
	if p.Sets != 2 || p.Classes != 5 || p.Degrees != 2*3+3*8 || p.Samples() != 8+27+2 {
		t.Errorf("%+v, %d samples", p.Description, p.Samples())
	}
	want := make([]float64, d*d)
	for _, s := range sets {
		classes := must.Get(s.Except(func(classstats.SampleID) bool { return false }))(t)
		for _, c := range classes {
			if c.Moments.N() < 2 {
				continue
			}
			cov := must.Get(covariance(c.Moments))(t)
			for i, v := range cov {
				want[i] += v * float64(c.Moments.N()-1) / float64(p.Degrees)
			}
		}
	}
	for i, v := range p.Head().Within.Data {
		if math.Abs(v-want[i]) > 1e-6 {
			t.Errorf("element %d is %g, want %g", i, v, want[i])
		}
	}
}

func covariance(m *moments.Moments) ([]float64, error) {
	cov, err := m.Covariance()
	return dense.Clone(cov).Data, err
}

func TestPriorKnowsItsImages(t *testing.T) {
	p := made(t, set(t, "one", 4, "a", "bb"))
	mine, others := id("one", "bb", 3).Content, id("two", "bb", 3).Content
	if n := p.Count([]classstats.Hash{mine, others}, nil); n != 1 {
		t.Errorf("%d of one", n)
	}
	if err := p.CheckLearned([]classstats.Hash{others}, nil); err != nil {
		t.Error(err)
	}
	if err := p.CheckLearned([]classstats.Hash{others, mine}, nil); !errors.Is(err, ErrLearned) ||
		!strings.Contains(err.Error(), "1 of these 2 images") {
		t.Error(err)
	}
	if n := p.Count([]classstats.Hash{id("one", "alone", 0).Content}, nil); n != 1 {
		t.Error("an image that is alone in its class is not recognised")
	}
}

// A photo is recognised by its embedding too, and is one image all the same.
func TestPriorKnowsEmbeddings(t *testing.T) {
	p := made(t, set(t, "one", 4, "a"))
	row, other := id("row", "a", 0).Content, id("photo", "a", 0).Content
	p.know([]classstats.Hash{row})
	if n := p.Count([]classstats.Hash{other, row, other}, []classstats.Hash{row, other, other}); n != 2 ||
		p.Samples() != 5 {
		t.Errorf("%d of two, of %d images", n, p.Samples())
	}
}

func TestPriorRefuses(t *testing.T) {
	alone := set(t, "one", 1, "a", "bb")
	if err := (&Prior{}).Add(t.Context(), linalg.Backend{}, alone, nil); err == nil ||
		!strings.Contains(err.Error(), "no class has two images") {
		t.Error(err)
	}
	p := made(t, set(t, "one", 4, "a"))
	other := classstats.New(d+1, true)
	must.Get(other.Add(id("x", "a", 0), make([]float32, d+1)))(t)
	if err := p.Add(t.Context(), linalg.Backend{}, other, nil); !errors.Is(err, embedding.ErrOtherBackbone) {
		t.Error(err)
	}
	if err := p.Accepts(embedding.Provenance{Dim: d + 1}); !errors.Is(err, embedding.ErrOtherBackbone) {
		t.Error(err)
	}
}

func TestPriorFile(t *testing.T) {
	p := made(t, set(t, "one", 4, "a", "bb"), set(t, "two", 3, "a"))
	p.ToolVersion = "test"
	file := filepath.Join(t.TempDir(), "p.prior")
	must.Do(t, p.Save(file))
	back := must.Get(Load(file))(t)
	if back.Description.Degrees != p.Degrees || back.ToolVersion != "test" || back.Samples() != p.Samples() {
		t.Errorf("%+v", back.Description)
	}
	again := filepath.Join(t.TempDir(), "p.prior")
	must.Do(t, back.Save(again))
	a, b := read(t, file), read(t, again)
	if !bytes.Equal(a, b) {
		t.Error("saved again, the file differs")
	}
	must.Do(t, os.WriteFile(again, a[:len(a)-7], 0o600))
	if _, err := Load(again); !errors.Is(err, safetensors.ErrTooShort) {
		t.Errorf("a truncated file: %v", err)
	}
	stats := filepath.Join(t.TempDir(), "s.stats")
	must.Do(t, set(t, "one", 4, "a").Save(stats))
	if _, err := Load(stats); !errors.Is(err, ErrNotPrior) || !strings.Contains(err.Error(), "class statistics") {
		t.Errorf("statistics: %v", err)
	}
	if err := p.Save(stats); !errors.Is(err, ErrNotPrior) {
		t.Errorf("statistics were replaced: %v", err)
	}
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(file))(t)
}

// TestMutatedPriors damages a prior, half of the time behind its checksum: it is refused, or a covariance.
func TestMutatedPriors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.prior")
	must.Do(t, made(t, set(t, "one", 4, "a", "bb")).Save(file))
	f := must.Get(mutation.Unseal(read(t, file)))(t)
	documents := [][]byte{[]byte(f.Metadata[container.DocumentKey])}
	var loaded atomic.Int64
	mutation.Each(t, 1000, func(i int, rng *rand.Rand) error {
		raw := f.Mutated(i, rng, container.DocumentKey, [][]byte{f.Raw}, documents)
		p, err := open(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return nil
		}
		loaded.Add(1)
		p.Count(p.content, nil)
		for i := range p.Dim {
			if v := p.Head().Within.Data[i*p.Dim+i]; !(v >= 0) {
				return fmt.Errorf("a variance of %g", v)
			}
		}
		return nil
	})
	t.Logf("%d were loaded", loaded.Load())
}

// FuzzLoad: for any bytes Load returns a prior that can be saved and used, or an
// error.
func FuzzLoad(f *testing.F) {
	p := made(f, set(f, "one", 4, "a", "bb"))
	file := filepath.Join(f.TempDir(), "p.prior")
	must.Do(f, p.Save(file))
	raw := read(f, file)
	original := must.Get(safetensors.Open(bytes.NewReader(raw), int64(len(raw))))(f)
	document := original.Metadata()["model"]
	f.Add(document, 0, float32(1), 0)
	f.Add(strings.Replace(document, `"dim":5`, `"dim":2147483647`, 1), 3, float32(math.NaN()), 40)
	f.Fuzz(func(t *testing.T, document string, at int, value float32, byteAt int) {
		if !utf8.ValidString(document) { // cannot be written
			return
		}
		changed := *p
		changed.within = append([]float32{}, p.within...)
		changed.within[uint(at)%uint(len(p.within))] = value
		changed.content = append([]classstats.Hash{}, p.content...)
		changed.content[uint(byteAt)%uint(len(p.content))][0]++
		data := changed.bytes(t, document)
		back, err := open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if got := back.Head().Within; got.Rows != back.Dim || len(got.Data) != back.Dim*back.Dim {
			t.Errorf("%d×%d of %d", got.Rows, got.Cols, back.Dim)
		}
		back.Count(p.content, nil)
		if err := back.Save(filepath.Join(t.TempDir(), "p.prior")); err != nil {
			t.Error(err)
		}
	})
}

// bytes returns the file with another description.
func (p *Prior) bytes(t testing.TB, document string) []byte {
	t.Helper()
	c := container.New(format, document)
	p.Encode(c)
	var b bytes.Buffer
	must.Get(safetensors.Write(&b, c.Tensors, c.Metadata))(t)
	return b.Bytes()
}
