package serve

import (
	"context"
	"net/http"
	"time"
)

// healTime is how often the server tries whether decisions can be kept again.
const healTime = 2 * time.Second

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	was := s.Session.Unkept()
	err := s.Session.Healthy()
	if (was == nil) != (s.Session.Unkept() == nil) {
		s.Changed("status")
	}
	if err != nil {
		return fail(http.StatusServiceUnavailable, "%s", textOf(err, http.StatusOK))
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

// heal tells the pages and the log when decisions cannot be kept, and tries until they can be, so
// that nobody has to decide something to find out.
func (s *Server) heal(ctx context.Context) {
	tick := time.NewTicker(healTime)
	defer tick.Stop()
	unkept := false
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if why := s.Session.Unkept(); why != nil {
			if !unkept {
				s.Log.Error("decisions cannot be kept", "reason", textOf(why, http.StatusOK))
				s.Changed("status")
			}
			unkept = true
			_ = s.Session.Healthy() // which tries, and is asked for below
		}
		if unkept && s.Session.Unkept() == nil {
			s.Log.Info("decisions are kept again")
			s.Changed("status")
			unkept = false
		}
	}
}
