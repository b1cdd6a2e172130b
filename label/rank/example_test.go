package rank_test

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/rank"
)

// Photos of which the model is least sure come first. A ranking is a sink of a label.Pass;
// here it gets three rows by hand.
func Example() {
	classes := []string{"cat", "dog"}
	ranking, err := rank.New(rank.DefaultConfig(), classes)
	if err != nil {
		fmt.Println(err)
		return
	}
	for path, cat := range map[string]float64{"sure.jpg": 0.99, "doubtful.jpg": 0.55, "so-so.jpg": 0.8} {
		logProb := []float64{math.Log(cat), math.Log(1 - cat)}
		row := label.Scored{Sample: dataset.Sample{Path: path}, LogProb: logProb,
			Prediction: classifier.FromLogProb(classes, logProb, 2)}
		if err := ranking.Put(row); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := ranking.Commit(embedding.Outcome{}); err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range ranking.Entries {
		fmt.Printf("%s %.2f\n", e.Path, e.Score)
	}
	// Output:
	// doubtful.jpg 0.90
	// so-so.jpg 0.40
	// sure.jpg 0.02
}
