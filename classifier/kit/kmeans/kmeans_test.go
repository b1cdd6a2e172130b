package kmeans

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// TestClusters finds clusters that are far apart, and terminates.
func TestClusters(t *testing.T) {
	x := dense.New32(90, 3)
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range x.Data {
		x.Data[i] = float32(20*(i/3%3) + int(rng.NormFloat64()))
	}
	of, err := Cluster(context.Background(), linalg.Backend{}, x, Config{Clusters: 3, Candidates: 1, Rounds: 50}, rng)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range of {
		if s != of[i%3] || s == of[(i+1)%3] {
			t.Fatalf("row %d is in cluster %d of %v", i, s, of[:3])
		}
	}
}

func TestClusterStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Cluster(ctx, linalg.Backend{}, dense.New32(4, 2), Config{Clusters: 2, Candidates: 1, Rounds: 5},
		rand.New(rand.NewPCG(1, 1))); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}

// TestCandidates: with several candidates, far fewer groups get no seed than in plain
// k-means++.
func TestCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const groups, d = 20, 30
	x := dense.New32(10*groups, d)
	for i := range x.Rows {
		centre := rand.New(rand.NewPCG(4, uint64(i%groups)))
		for j := range d {
			x.Data[i*d+j] = float32(centre.NormFloat64() + 0.3*rng.NormFloat64())
		}
	}
	missed := map[int]int{}
	for _, candidates := range []int{1, 4} {
		for range 20 {
			centres, err := seeds(context.Background(), x, Config{Clusters: groups, Candidates: candidates}, rng)
			if err != nil {
				t.Fatal(err)
			}
			of, err := nearestCentres(linalg.Backend{}, dense.Rows32(x, 0, groups), centres) // one row of each
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(of)
			missed[candidates] += groups - len(slices.Compact(of))
		}
	}
	if missed[1] == 0 || 3*missed[4] > missed[1] {
		t.Errorf("groups without a seed, by candidates: %v", missed)
	}
}
