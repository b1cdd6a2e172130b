package gptree

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
)

func draws(n, d int, seed uint64) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := make([][]float32, n)
	for i := range rows {
		for range d {
			rows[i] = append(rows[i], float32(rng.NormFloat64()))
		}
	}
	return sorted(rows)
}

func sorted(rows [][]float32) [][]float32 {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, exemplars.Compare)
	return rows
}

func centres(rows [][]float32, d, count int, unit bool) [][]float32 {
	return inducing(rows, d, count, unit, rand.New(rand.NewPCG(7, 7)))
}

// TestInducingFindsGroups: of tight groups each gets its mean.
func TestInducingFindsGroups(t *testing.T) {
	var rows [][]float32
	for g := range 4 {
		for _, r := range draws(20, 3, uint64(g)) {
			rows = append(rows, []float32{float32(10*g) + r[0]/100, float32(10*(g%2)) + r[1]/100, 1})
		}
	}
	got := centres(sorted(rows), 3, 4, false)
	for g, c := range got {
		if math.Abs(float64(c[0])-float64(10*g)) > 0.02 || math.Abs(float64(c[1])-float64(10*(g%2))) > 0.02 ||
			math.Abs(float64(c[2])-1) > 1e-6 {
			t.Errorf("group %d: centre %v", g, c)
		}
	}
}

func TestInducingOfFewRows(t *testing.T) {
	rows := draws(3, 2, 1)
	twice := sorted(slices.Concat(rows, rows, rows))
	for _, unit := range []bool{false, true} {
		if got := centres(twice, 2, 5, unit); !reflect.DeepEqual(got, rows) {
			t.Errorf("unit %v: %v of three distinct rows %v", unit, got, rows)
		}
	}
	if got := centres(draws(40, 2, 2), 2, 5, true); len(got) != 5 || !slices.IsSortedFunc(got, exemplars.Compare) {
		t.Errorf("%v", got)
	}
}

// TestInducingDoesNotDependOnOrder, nor on the scale of rows of length 1.
func TestInducingDoesNotDependOnOrder(t *testing.T) {
	rows := draws(60, 4, 3)
	mixed := slices.Clone(rows)
	slices.Reverse(mixed)
	if !reflect.DeepEqual(centres(sorted(mixed), 4, 6, true), centres(rows, 4, 6, true)) {
		t.Error("the order of examples changes the inducing inputs")
	}
	for _, c := range centres(rows, 4, 6, true) {
		var sq float64
		for _, v := range c {
			sq += float64(v) * float64(v)
		}
		if sq > 1+1e-6 {
			t.Errorf("centre of length %g among rows of length 1", math.Sqrt(sq))
		}
	}
}
