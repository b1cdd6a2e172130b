package classstats_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/mutation"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// saved returns statistics of a full class and a thin one, as a file.
func saved(tb testing.TB) []byte {
	tb.Helper()
	const d = 6
	s := classstats.New(d, true)
	for class, n := range map[string]int{"ant": 9, "bee": 3} {
		for i := range n {
			row := make([]float32, d)
			for j := range row {
				row[j] = float32((i*7+j*5)%11) / 11
			}
			row[len(class)+i%2]++
			id := classstats.SampleID{Class: class}
			copy(id.Content[:], fmt.Sprint(class, i))
			must.Get(s.Add(id, row))(tb)
		}
	}
	path := filepath.Join(tb.TempDir(), "s.stats")
	must.Do(tb, s.Save(path))
	return must.Get(os.ReadFile(path))(tb)
}

// TestMutatedStatistics damages statistics, half of them behind the checksum: they are refused, or can be merged,
// saved and learned from.
func TestMutatedStatistics(t *testing.T) {
	f := must.Get(mutation.Unseal(saved(t)))(t)
	documents := [][]byte{[]byte(f.Metadata[container.DocumentKey])}
	var read atomic.Int64
	mutation.Each(t, 300, func(i int, rng *rand.Rand) error {
		raw := f.Mutated(i, rng, container.DocumentKey, [][]byte{f.Raw}, documents)
		ok, err := usable(raw)
		if ok {
			read.Add(1)
		}
		return err
	})
	t.Logf("%d could be read", read.Load())
}

// FuzzLoad: for any bytes Load returns statistics that can be merged, saved and
// learned from, or an error.
func FuzzLoad(f *testing.F) {
	raw := saved(f)
	file := must.Get(safetensors.Open(bytes.NewReader(raw), int64(len(raw))))(f)
	document := file.Metadata()[container.DocumentKey]
	f.Add(raw, document, 0, 0.0)
	f.Add(raw[:50], `{"dim":6,"unit":true,"classes":[{"name":"a","n":1}]}`, 3, math.NaN())
	f.Add([]byte{}, strings.Replace(document, `"dim":6`, `"dim":2147483647`, 1), 1, -1.0)
	f.Fuzz(func(t *testing.T, raw []byte, document string, at int, value float64) {
		try(t, raw)
		// The same file with another description, or another value.
		c := container.New(classstats.Format, document)
		for _, info := range file.Tensors() {
			if info.Name == safetensors.DigestName {
				continue
			}
			x := must.Get(file.Read(info.Name))(t)
			x.F64 = slices.Clone(x.F64)
			if len(x.F64) > 0 && at >= 0 {
				x.F64[at%len(x.F64)] = value
			}
			c.Tensors[info.Name] = x
		}
		var out bytes.Buffer
		if _, err := safetensors.Write(&out, c.Tensors, c.Metadata); err == nil {
			try(t, out.Bytes())
		}
	})
}

func try(t *testing.T, raw []byte) {
	must.Get(usable(raw))(t)
}

// usable merges, encodes and learns from the statistics in a file, unless it is refused.
func usable(raw []byte) (bool, error) {
	s, err := classstats.Decode(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return false, nil
	}
	if err := s.Encodable(); err != nil {
		return false, err
	}
	_, _, _ = model.TrainStats(context.Background(), model.Settings{Method: "plda", Heads: method.DefaultConfig()}, s)
	_, _ = s.Merge(s)
	return true, nil
}
