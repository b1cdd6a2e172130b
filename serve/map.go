package serve

import (
	"math"
	"net/http"
	"slices"

	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/teach"
)

// The states of a photo on the map that are no label.By.
const (
	spotHidden  = "hidden"
	spotOpen    = "open"
	spotUnknown = "unknown"
)

// states returns those of a photo on the map; an answer has numbers instead of these words.
func states() []string {
	return []string{spotHidden, spotOpen, spotUnknown, string(label.Person), string(label.Bulk), string(label.Folder),
		string(label.Ignored), string(label.Skipped), string(label.Mixed), string(label.Detector)}
}

func stateOf(s teach.Spot) string {
	switch {
	case s.Hidden:
		return spotHidden
	case s.By != "":
		return string(s.By)
	case s.Unknown:
		return spotUnknown
	}
	return spotOpen
}

// mapAnswer has a column of each value: 100 000 photos are 10 MB, without IDs and X and Y,
// which a client can have already, 2 MB.
type mapAnswer struct {
	Version   int        `json:"version"`
	Revision  int        `json:"revision"`
	Computing bool       `json:"computing"`
	Arranged  bool       `json:"arranged"`
	Stopped   bool       `json:"stopped"`
	TooMany   bool       `json:"too_many"`
	IDs       []teach.ID `json:"ids"`
	X         []int      `json:"x"`
	Y         []int      `json:"y"`
	Classes   []string   `json:"classes"`
	States    []string   `json:"states"`
	Class     []int      `json:"class"`
	Rather    []int      `json:"rather"`
	State     []int      `json:"state"`
	Permille  []int      `json:"permille"`
	Taken     []*int64   `json:"taken"`
}

// chart answers with the map of the folder.
func (s *Server) chart(w http.ResponseWriter, r *http.Request) error {
	have, err := number(r, "have", 0, 1<<53, 0)
	if err != nil {
		return err
	}
	q, err := filters(r.URL.Query())
	if err != nil {
		return err
	}
	m, err := s.Session.Map(q)
	if err != nil {
		return err
	}
	n := len(m.Spots)
	a := mapAnswer{Version: m.Version, Revision: m.Revision, Computing: m.Computing, Arranged: m.Arranged,
		Stopped: m.Stopped, TooMany: m.TooMany, Classes: m.Classes, States: states(), Class: make([]int, n),
		Rather: make([]int, n), State: make([]int, n), Permille: make([]int, n), Taken: make([]*int64, n)}
	if have == 0 || have != m.Version {
		a.IDs, a.X, a.Y = m.IDs, append([]int{}, m.X...), append([]int{}, m.Y...)
	}
	for i, spot := range m.Spots {
		a.Class[i], a.Rather[i], a.State[i] = spot.Class, spot.Rather, slices.Index(a.States, stateOf(spot))
		a.Permille[i], a.Taken[i] = -1, spot.Taken
		if !math.IsNaN(spot.Probability) {
			a.Permille[i] = int(1000 * spot.Probability) // never rounded up to certainty
		}
	}
	writeJSON(w, http.StatusOK, a)
	return nil
}

// arrange lets the map be arranged by neighbours, or stops that.
func (s *Server) arrange(w http.ResponseWriter, r *http.Request) error {
	var asked struct {
		Arrange *bool `json:"arrange"`
	}
	if err := readJSON(w, r, &asked); err != nil {
		return err
	}
	if asked.Arrange == nil {
		return fail(http.StatusBadRequest, "arrange is missing: it is true or false")
	}
	s.Session.Arrange(*asked.Arrange)
	writeJSON(w, http.StatusOK, map[string]any{"status": s.newStatus()})
	return nil
}
