package shrinkage

import (
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
)

// meanTol is the difference of a mean of float32 rows of length 1 from that in
// float64.
const meanTol = 1e-6

// Statistics implements classifier.StatisticsKeeper: the exact statistics of
// every class that has them; tensors carry the class's position in the
// settings in front, as in "3.rows". Of classes with up to d examples they
// are the embeddings themselves, scaled to length 1.
func (h *Head) Statistics() (classifier.State, error) {
	side := moments.SideOf(h.classes, h.Dim(), func(c class) *moments.Moments { return c.stats })
	return classifier.NewState(settings{Method: h.method, Config: h.cfg, Learned: side.Learned}, side.Tensors)
}

// RestoreStatistics implements classifier.StatisticsKeeper. Statistics that
// belong to another model are refused; on error nothing changes.
func (h *Head) RestoreStatistics(s classifier.State) error {
	classes, err := h.restored(s)
	if err != nil {
		return fmt.Errorf("%s: restore statistics: %w", h.method, err)
	}
	h.classes = classes
	return nil
}

func (h *Head) restored(s classifier.State) (classifier.Table[class], error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return h.classes, err
	}
	return moments.RestoreSide(h.classes, h.Dim(), moments.Side{Learned: set.Learned, Tensors: s.Tensors}, func(c class, stats *moments.Moments) (class, bool) {
		known := matches(stats, c)
		c.stats = stats
		return c, known
	})
}

// matches says whether the class was fitted to these statistics.
func matches(stats *moments.Moments, c class) bool {
	if stats.N() != c.N {
		return false
	}
	mean := c.Mean()
	for j, v := range stats.Mean() {
		if !(math.Abs(v-mean[j]) <= meanTol) {
			return false
		}
	}
	return true
}
