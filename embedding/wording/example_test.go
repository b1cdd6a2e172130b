package wording_test

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding/wording"
)

func Example() {
	templates := wording.Templates{"a photo of a {}", "a drawing of a {}"}
	classes, texts, err := templates.Sentences([]dataset.Description{
		{Class: "007-Golden_Retriever"},
		{Class: "fox", Text: "a red fox in the snow"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, text := range texts {
		fmt.Printf("%s: %s\n", classes[i], text)
	}
	// Output:
	// 007-Golden_Retriever: a photo of a Golden Retriever
	// 007-Golden_Retriever: a drawing of a Golden Retriever
	// fox: a red fox in the snow
}
