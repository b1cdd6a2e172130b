package report_test

import (
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/label/report"
)

func Example() {
	var page strings.Builder
	err := report.Write(&page, report.Page{
		Title:   "Holiday",
		Classes: []report.Class{{Name: "beach"}},
		Predictions: []report.Prediction{{Path: "1.jpg", Thumbnail: []byte("…"), Predicted: "beach", Probability: 0.98,
			Margin: 0.97}},
	})
	fmt.Println(err, strings.Contains(page.String(), "1.jpg, labelled beach"), strings.Contains(page.String(), "98.0%"))
	// Output: <nil> true true
}
