package gptree

import (
	"github.com/seed-90d10d51/pipeline/classifier"
)

// Methods describes GP-Tree and the baselines that differ only in their tree.
func Methods() []classifier.Method {
	return []classifier.Method{
		define("gptree", "",
			"Gaussian processes at the splits of a tree over the classes (GP-Tree); its files contain embeddings"),
		define("gptree-random", BuildRandom, "GP-Tree with a random balanced tree, a baseline"),
		define("sbm", BuildStickBreaking,
			"GP-Tree with the tree of the stick-breaking likelihood (SBM-GP), a baseline"),
	}
}

// define describes GP-Tree under a name. The settings select the tree, unless the
// method fixes it.
func define(name string, tree Builder, summary string) classifier.Method {
	return classifier.Define(classifier.Method{
		Name: name, Key: "gptree", Summary: summary,
		Novelty: "that of the mean; with mean zero, the latent variance along the path, compared with the prior's",
		Extend:  "novel classes, refitted; base classes with base gibbs",
		Forget:  "novel classes and examples, refitted; base ones with base gibbs",
	}, classifier.Definition[Config, *GPTree]{
		Default: DefaultConfig(), New: New, Load: Load,
		Seed: func(c *Config) *uint64 { return &c.Seed },
		Resolve: func(c *Config, _ classifier.Run) {
			if tree != "" { // a baseline of the paper
				c.Tree, c.Mean = tree, MeanZero
			}
		},
	})
}
