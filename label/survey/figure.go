package survey

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/chart"
	"github.com/seed-90d10d51/pipeline/label"
)

// mostDrawn is the number of classes in the figure, those with most events.
const mostDrawn = 12

// drawn returns the classes of the figure, with their events by hour, those with most
// first. Events that show nothing are of none.
func (s *Survey) drawn() (strips []chart.Strip, left int) {
	for _, l := range s.labels {
		strip := chart.Strip{Label: l, Values: make([]float64, hours)}
		for hour := range s.hours {
			strip.Values[hour] = float64(s.hours[hour].by[l])
		}
		if l != label.EmptyPhoto && strip.Sum() > 0 {
			strips = append(strips, strip)
		}
	}
	slices.SortStableFunc(strips, func(a, b chart.Strip) int { return cmp.Compare(b.Sum(), a.Sum()) })
	for i, strip := range strips {
		strips[i].Note = plural(int(strip.Sum()), "event")
	}
	n := min(len(strips), mostDrawn)
	return strips[:n], len(strips) - n
}

// SVG draws activity by hour; nil if no event of a class has a time.
func (s *Survey) SVG() ([]byte, error) {
	f := s.figure()
	if f == nil {
		return nil, nil
	}
	return f.Encode("svg")
}

// figure returns activity by hour; nil if no event of a class has a time.
func (s *Survey) figure() *chart.Figure {
	strips, left := s.drawn()
	if len(strips) == 0 {
		return nil
	}
	title := "Activity by hour"
	if left > 0 {
		title += fmt.Sprintf(" · the %d classes with most events of %d", len(strips), left+len(strips))
	}
	f := chart.Strips(label.ActivityName, chart.Axes{Title: title, X: "hour of the day, by the clock of the camera"}, 3,
		strips)
	return &f
}

// Told says in words what the figure shows.
func (s *Survey) Told() string {
	text := ""
	strips, _ := s.drawn()
	for _, strip := range strips {
		most := 0
		for hour, n := range strip.Values {
			if n > strip.Values[most] {
				most = hour
			}
		}
		text += fmt.Sprintf("%s: %s, most from %d to %d o'clock. ", strip.Label, strip.Note, most, most+1)
	}
	return text
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
