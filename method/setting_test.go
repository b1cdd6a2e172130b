package method_test

import (
	"strings"

	"github.com/seed-90d10d51/pipeline/method"
)

// setting returns a change of settings by their keys, as in
// setting("ppca.q", 3, "ppca.lambda", 0.1).
func setting(pairs ...any) func(*method.Config) {
	return func(c *method.Config) {
		for i := 0; i < len(pairs); i += 2 {
			section, key, _ := strings.Cut(pairs[i].(string), ".")
			next, err := c.Decode(map[string]any{section: map[string]any{key: pairs[i+1]}})
			if err != nil {
				panic(err)
			}
			*c = next
		}
	}
}

// configured returns the defaults with some settings changed.
func configured(pairs ...any) method.Config {
	c := method.DefaultConfig()
	setting(pairs...)(&c)
	return c
}
