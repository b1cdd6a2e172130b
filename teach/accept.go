package teach

import "math"

// An Acceptance is what accepting predictions does.
type Acceptance struct {
	Images int
	// Precision is the mean of the probabilities.
	Precision float64
	// Checked predictions of at least that probability were looked at by a person,
	// who found Correct of them right.
	Checked, Correct int
}

// acceptable returns the photos without a label, and not unknown, that are predicted with
// at least a probability, of a class unless that is "". An unknown photo may have a high
// probability: that says only which class it is least unlike.
func (g *gallery) acceptable(above float64, class string) (images []ID, classes []string, precision float64) {
	for i, p := range g.photos {
		if label, _ := g.label(i); label != "" || p.Path == "" || !g.live.scored(i) || g.live.unknown(i) {
			continue
		}
		predicted, prob := g.live.predicted(i)
		if prob < above || class != "" && predicted != class {
			continue
		}
		images, classes, precision = append(images, p.ID), append(classes, predicted), precision+prob
	}
	return images, classes, precision / math.Max(1, float64(len(images)))
}

// Acceptable tells what Accept would do.
func (s *Session) Acceptable(above float64, class string) Acceptance {
	s.mu.RLock()
	defer s.mu.RUnlock()
	images, _, precision := s.acceptable(above, class)
	right := s.state.checked(above, class)
	return Acceptance{Images: len(images), Precision: precision, Checked: len(right), Correct: count(right)}
}

// Accept labels every photo without a label that is not unknown and whose most probable
// class has at least a probability; class "" is any.
func (s *Session) Accept(above float64, class string) (Line, error) {
	if !(above >= 0 && above <= 1) {
		return Line{}, refuse(Invalid, "above is %v: it is a probability from 0 to 1", above)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	images, classes, _ := s.acceptable(above, class)
	if len(images) == 0 {
		return Line{}, refuse(Conflict, "no photo without a label is predicted with that probability")
	}
	return s.commit(Line{Do: Accept, Images: images, Classes: classes, Class: class})
}
