package survey_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/survey"
)

// A station saw a fox on two days.
func Example() {
	monday := time.Date(2025, 6, 9, 22, 30, 0, 0, time.UTC)
	s := survey.New([]*events.Event{
		{Station: "north", Start: monday, Labels: []string{"fox"}},
		{Station: "north", Start: monday.AddDate(0, 0, 1), Labels: []string{"fox", "hare"}},
	}, nil)
	dir, err := os.MkdirTemp("", "survey")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := (survey.Sink{Survey: s, Dir: dir}).Commit(embedding.Outcome{}); err != nil {
		panic(err)
	}
	file, err := os.Open(filepath.Join(dir, label.SpeciesName))
	if err != nil {
		panic(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	fmt.Println(rows, err)
	// Output: [[station week days events unknown fox hare] [north 2025-W24  2 0 2 1]] <nil>
}
