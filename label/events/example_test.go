package events_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/seed-90d10d51/pipeline/label/events"
)

// Two photos within a minute are one event. One of them shows little; together they show a
// fox.
func Example() {
	root, err := os.MkdirTemp("", "photos")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	photos := []events.Photo{ // with what a list says of the time
		{Path: "1.jpg", Rows: 1, Taken: "2024-05-01T06:00:00"},
		{Path: "2.jpg", Rows: 1, Taken: "2024-05-01T06:00:20"},
		{Path: "3.jpg", Rows: 1, Taken: "2024-05-01T09:30:00"},
	}
	groups, err := events.Group(context.Background(), root, slices.Values(photos), events.Options{Gap: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range groups.Events {
		fmt.Println(e.Start.Format(time.TimeOnly), "photos:", e.Photos)
	}
	joint := events.Joint{Classes: []string{"deer", "fox"}, Added: 0.5}
	logProb := joint.LogProb([]events.Evidence{
		events.NewEvidence([]float64{math.Log(0.5), math.Log(0.5)}, ""),
		events.NewEvidence([]float64{math.Log(0.1), math.Log(0.9)}, ""),
	})
	fmt.Printf("fox: %.2f\n", math.Exp(logProb[1]))
	// Output:
	// 06:00:00 photos: 2
	// 09:30:00 photos: 1
	// fox: 0.72
}
