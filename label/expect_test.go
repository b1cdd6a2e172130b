package label

import (
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
)

// What is expected of a folder is of the labels that were not rejected.
func TestExpectation(t *testing.T) {
	held := calibration.Calibration{Source: calibration.LeftOut, Samples: 400}
	s := summarySink{start: time.Now(), folder: calibration.NewFolder(held)}
	for i := range 30 {
		p := classifier.Prediction{Probability: 0.75}
		if i%3 == 0 {
			p.Probability = 0.1
		}
		if err := s.Put(Scored{Prediction: p, Rejected: i%3 == 0}); err != nil {
			t.Fatal(err)
		}
	}
	if e := expect(s.folder); e == nil || e.Labels != 20 || e.Accuracy != 0.75 ||
		e.Low >= 0.75 || e.High <= 0.75 {
		t.Errorf("%+v", e)
	}
	if e := expect(calibration.Folder{N: 20}); e != nil {
		t.Errorf("without anything held out: %+v", e)
	}
}
