package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	maxClients = 64               // that receive events
	keepAlive  = 15 * time.Second // between two lines of a connection
	eventTime  = 10 * time.Second // for a client to take an event
	// statusPace is the least time between two events that only say how far work is: each counts all photos.
	statusPace = 500 * time.Millisecond
)

var noDeadline time.Time // the zero time

// A hub passes events to the clients that listen.
type hub struct {
	mu      sync.Mutex
	clients map[chan string]bool
}

// send passes an event on. A client that has not taken the last ones yet gets the
// newest status with the next one that it takes.
func (h *hub) send(event string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		select {
		case c <- event:
		default:
		}
	}
}

// join returns the events of a new client; ok is false if there are too many.
func (h *hub) join() (events chan string, leave func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) >= maxClients {
		return nil, nil, false
	}
	const waiting = 16
	events = make(chan string, waiting)
	h.clients[events] = true
	return events, func() {
		h.mu.Lock()
		delete(h.clients, events)
		h.mu.Unlock()
	}, true
}

func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	events, leave, ok := s.hub.join()
	if !ok {
		return fail(http.StatusServiceUnavailable, "%d pages are open already: close one", maxClients)
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		_ = control.SetWriteDeadline(time.Now().Add(eventTime))
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && control.Flush() == nil
	}
	event := "status"
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	var due <-chan time.Time // for a status that waits
	for {
		sent := time.Now()
		if event == "" {
			if !send(": %s\n\n", "here") {
				return nil
			}
		} else {
			text, err := json.Marshal(s.newStatus())
			if err != nil || !send("event: %s\ndata: %s\n\n", event, text) {
				return err
			}
		}
		for event = ""; ; {
			select {
			case event = <-events:
			case <-due:
				event, due = "status", nil
			case <-tick.C:
			case <-r.Context().Done():
				return nil
			}
			wait := statusPace - time.Since(sent)
			if event != "status" || wait <= 0 {
				break
			}
			if due == nil {
				due = time.After(wait)
			}
		}
		if event != "" {
			due = nil // it has the newest status
		}
	}
}
