package classstats_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// FuzzLoad: for any bytes Load returns statistics that can be merged, saved and
// learned from, or an error.
func FuzzLoad(f *testing.F) {
	const d = 6
	s := classstats.New(d, true)
	for class, n := range map[string]int{"ant": 9, "bee": 3} { // full and thin
		for i := range n {
			row := make([]float32, d)
			for j := range row {
				row[j] = float32((i*7+j*5)%11) / 11
			}
			row[len(class)+i%2]++
			id := classstats.SampleID{Class: class}
			copy(id.Content[:], fmt.Sprint(class, i))
			if _, err := s.Add(id, row); err != nil {
				f.Fatal(err)
			}
		}
	}
	path := filepath.Join(f.TempDir(), "s.stats")
	if err := s.Save(path); err != nil {
		f.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	file, err := safetensors.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		f.Fatal(err)
	}
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
			x, err := file.Read(info.Name)
			if err != nil {
				t.Fatal(err)
			}
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
	s, err := classstats.Decode(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return
	}
	if err := s.Save(filepath.Join(t.TempDir(), "s.stats")); err != nil {
		t.Fatal(err)
	}
	_, _, _ = model.TrainStats(context.Background(), model.Settings{Method: "plda", Heads: method.DefaultConfig()}, s)
	_, _ = s.Merge(s)
}
