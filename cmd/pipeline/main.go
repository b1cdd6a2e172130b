// Command pipeline labels folders of photos: a frozen backbone turns images
// into embeddings, and probabilistic classifiers learn new classes from a few
// images without forgetting the old ones.
package main

import (
	"context"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
)

func main() { command.Main(context.Background()) }
