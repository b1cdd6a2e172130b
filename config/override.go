package config

import "github.com/seed-90d10d51/pipeline/extractor"

// Override returns base with every field of said that differs from standard:
// what the user set wins over what was recorded.
func Override(base, said, standard extractor.Config) extractor.Config {
	set(&base.Provider, said.Provider, standard.Provider)
	set(&base.Input, said.Input, standard.Input)
	set(&base.Output, said.Output, standard.Output)
	set(&base.Layout, said.Layout, standard.Layout)
	set(&base.Pool, said.Pool, standard.Pool)
	set(&base.Token, said.Token, standard.Token)
	set(&base.Batch, said.Batch, standard.Batch)
	set(&base.Side, said.Side, standard.Side)
	return base
}

func set[T comparable](field *T, said, standard T) {
	if said != standard {
		*field = said
	}
}
