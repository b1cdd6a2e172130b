package serve

import (
	"slices"
	"strconv"
	"testing"
)

// TestMap: the map has every photo of the lists, and says of it what they say; a client that
// has the places gets the rest.
func TestMap(t *testing.T) {
	s := newSite(t, nil)
	photos := s.loaded(30)
	events, leave, _ := s.server.hub.join()
	defer leave()
	var m mapAnswer
	s.get("/v1/map", &m)
	if s.server.Session.Wait(); m.Version == 0 {
		told := false
		for len(events) > 0 {
			told = <-events == "map" || told
		}
		if !told {
			t.Error("nobody is told that there is a map")
		}
	}
	s.teach(photos[:12])
	s.server.Session.Wait()
	s.get("/v1/map", &m)
	if len(m.IDs) != 30 || len(m.X) != 30 || len(m.Y) != 30 || max(slices.Max(m.X), slices.Max(m.Y)) != 10_000 {
		t.Fatalf("%d photos; x is %v, y is %v", len(m.IDs), m.X, m.Y)
	}
	var all listing
	s.get("/v1/images?limit=100", &all)
	for _, it := range all.Images {
		i := slices.Index(m.IDs, it.ID)
		state, class, permille := "open", "", -1
		switch {
		case it.Label != nil:
			// A model that has not learned the photo may have its doubts.
			state, class, permille = string(*it.By), *it.Label, max(950, m.Permille[max(i, 0)])
		case len(it.Prediction) > 0:
			class, permille = it.Prediction[0].Class, int(1000*it.Prediction[0].Probability)
			if it.Unknown {
				state = "unknown"
			}
		}
		if i < 0 || m.States[m.State[i]] != state || m.Classes[m.Class[i]] != class || m.Permille[i] != permille {
			t.Fatalf("%s: %d; %+v, want %s %s %d", it.Name, i, m, state, class, permille)
		}
	}

	var again mapAnswer
	s.get("/v1/map?folder=cam0&have="+strconv.Itoa(m.Version), &again)
	if again.IDs != nil || again.X != nil || again.Y != nil || again.Version != m.Version {
		t.Errorf("the places come again: %+v", again)
	}
	hidden := 0
	for _, state := range again.State {
		if again.States[state] == spotHidden {
			hidden++
		}
	}
	if hidden != 15 {
		t.Errorf("a folder of 15 hides %d photos", hidden)
	}
	for _, wrong := range []string{"have=x", "taken_since=yesterday"} {
		if code, body := s.send(s.request("GET", "/v1/map?"+wrong, "", "")); code != 400 {
			t.Errorf("%s: %d %s", wrong, code, body)
		}
	}
}
