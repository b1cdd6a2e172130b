package rank

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestNearest compares with sorting all rows; equal rows come in the order of their paths,
// whatever the order in which they are seen.
func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	query := []float32{1, -2, 3}
	var all []Match
	rows := map[string][]float32{}
	for i := range 200 {
		row := []float32{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
		if i%3 == 0 {
			row = []float32{2, -4, 6}
		}
		path := fmt.Sprintf("%03d.jpg", (i*77)%200)
		rows[path] = row
		dot, sq := 0.0, 0.0
		for j, v := range row {
			dot, sq = dot+float64(v)*float64(query[j])/math.Sqrt(14), sq+float64(v)*float64(v)
		}
		all = append(all, Match{path, dot / math.Sqrt(sq)})
	}
	slices.SortFunc(all, better)
	for _, most := range []int{0, 1, 50, 500} {
		n := must.Get(NewNearest(query, most))(t)
		n.Add("zero.jpg", make([]float32, 3))
		for path, row := range rows {
			n.Add(path, row)
		}
		got, want := n.Matches(), all[:min(most, len(all))]
		for i := range want {
			if len(got) != len(want) || got[i].Path != want[i].Path || math.Abs(got[i].Score-want[i].Score) > 1e-12 {
				t.Fatalf("%d of %d rows, row %d: %v, want %v", len(got), most, i, got, want)
			}
		}
	}
	for _, bad := range [][]float32{{0, 0}, {float32(math.NaN()), 1}, {float32(math.Inf(1)), 1}, nil} {
		if _, err := NewNearest(bad, 1); err == nil {
			t.Errorf("the query %v was accepted", bad)
		}
	}
}

func TestWriteMatches(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, WriteMatches(&b, []Match{{"=1+1.jpg", 0.5}, {"\xff.jpg", -0.25}}))
	if want := "path,score\n'=1+1.jpg,0.5\n%FF.jpg,-0.25\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
