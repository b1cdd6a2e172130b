package temperature_test

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/classifiertest"
	"github.com/seed-90d10d51/pipeline/classifier/temperature"
	"github.com/seed-90d10d51/pipeline/method"
)

func TestContract(t *testing.T) {
	for _, name := range []string{"ncm", "plda", "ppca"} {
		for setting, T := range map[string]float64{"auto": temperature.Auto, "given": 2.5} {
			t.Run(name+" "+setting, func(t *testing.T) {
				classifiertest.Run(t, classifiertest.Factory{
					New: func() (classifier.Learner, error) {
						return method.Tempered(nil, name, method.DefaultConfig(), temperature.Config{Temperature: T})
					},
					Load:      func(s classifier.State) (classifier.Learner, error) { return method.Load(name, s) },
					OrderFree: name == "ppca" && T != temperature.Auto, // as the head within; the base session chooses
					Tolerance: 2e-5,                                    // that of ppca
				})
			})
		}
	}
}
