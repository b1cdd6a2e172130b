package tempered_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/heads"
	"github.com/seed-90d10d51/pipeline/classifier/tempered"
)

func TestContract(t *testing.T) {
	for _, name := range []string{"ncm", "plda", "ppca"} {
		for setting, T := range map[string]float64{"auto": tempered.Auto, "given": 2.5} {
			t.Run(name+" "+setting, func(t *testing.T) {
				classifiertest.Run(t, classifiertest.Factory{
					New: func() (classifier.Learner, error) {
						return heads.Tempered(nil, name, heads.DefaultConfig(), tempered.Config{Temperature: T})
					},
					Load:      func(s classifier.State) (classifier.Learner, error) { return heads.Load(name, s) },
					OrderFree: name == "ppca" && T != tempered.Auto, // as the head within; the base session chooses
					Tolerance: 2e-5,                                 // that of ppca
				})
			})
		}
	}
}
