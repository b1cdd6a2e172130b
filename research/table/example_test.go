package table_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/research/table"
)

func Example() {
	t := table.Table{Title: "Accuracy", Header: []string{"method", "%"}, Text: 1, Note: "Mean ± standard error."}
	t.Add("plda", table.PlusMinus(table.MeanSEM([]float64{0.5, 0.75, 1})))
	t.Add("a|b", table.None)
	fmt.Print(t.Markdown())
	fmt.Println()
	fmt.Println(t)
	text, err := t.CSV()
	fmt.Printf("\n%s%v\n", text, err)
	// Output:
	// ## Accuracy
	//
	// | method | % |
	// | --- | ---: |
	// | plda | 75.00 ± 14.43 |
	// | a\|b | – |
	//
	// Mean ± standard error.
	//
	// method  %
	// plda    75.00 ± 14.43
	// a|b     –
	//
	// method,%
	// plda,75.00 ± 14.43
	// a|b,
	// <nil>
}
