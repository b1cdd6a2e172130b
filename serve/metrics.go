package serve

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// bounds of the histogram of answer times, in seconds.
func bounds() []float64 { return []float64{0.005, 0.02, 0.1, 0.5, 1, 5, 30} }

// metrics are those of /metrics.
type metrics struct {
	labelled atomic.Int64

	mu       sync.Mutex
	requests map[string]int // by labels
	buckets  []int
	n        int
	seconds  float64
	batches  int
	together int // photos in batches
}

func (m *metrics) count(pattern string, code int, took time.Duration) {
	method, route, _ := strings.Cut(pattern, " ")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[fmt.Sprintf(`method="%s",route="%s",code="%d"`, method, route, code)]++
	if route == "/v1/events" {
		return // it lasts as long as the page is open
	}
	m.n++
	m.seconds += took.Seconds()
	for i, b := range bounds() {
		if took.Seconds() <= b {
			m.buckets[i]++
		}
	}
}

func (m *metrics) batch(photos int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.batches++
	m.together += photos
}

func (s *Server) writeMetrics(w http.ResponseWriter, _ *http.Request) error {
	st := s.Session.Status()
	var out strings.Builder
	add := func(name, kind, help string, value any) {
		fmt.Fprintf(&out, "# HELP pipeline_%[1]s %[2]s\n# TYPE pipeline_%[1]s %[3]s\npipeline_%[1]s %[4]v\n", name,
			help, kind, value)
	}
	add("photos", "gauge", "Photos of the folder that are embedded.", st.Embedded)
	add("photos_failed", "gauge", "Files of the folder that cannot be read as photos.", st.Photos.Failed)
	add("classes", "gauge", "Classes.", st.Classes)
	add("labels_person", "gauge", "Photos that a person labelled.", st.Person)
	add("labels_bulk", "gauge", "Photos that were labelled by accepting predictions.", st.Bulk)
	add("journal_lines", "gauge", "Lines of the journal.", st.Seq)
	kept := 1
	if st.Lost != nil || st.Unkept != nil {
		kept = 0
	}
	add("decisions_kept", "gauge", "1 if decisions can be kept, 0 if not.", kept)
	add("failed_writes_total", "counter", "Decisions that could not be written down.", st.FailedWrites)
	add("refit_seconds", "gauge", "Time of the last fit.", st.RefitSeconds)
	add("labelled_total", "counter", "Photos of requests that were labelled.", s.metrics.labelled.Load())
	m := &s.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	add("batches_total", "counter", "Groups of requests whose photos were embedded together.", m.batches)
	add("batched_photos_total", "counter", "Photos in these groups.", m.together)
	out.WriteString("# HELP pipeline_requests_total Requests.\n# TYPE pipeline_requests_total counter\n")
	for _, labels := range slices.Sorted(maps.Keys(m.requests)) {
		fmt.Fprintf(&out, "pipeline_requests_total{%s} %d\n", labels, m.requests[labels])
	}
	out.WriteString("# HELP pipeline_request_seconds Time to answer.\n# TYPE pipeline_request_seconds histogram\n")
	for i, b := range bounds() {
		fmt.Fprintf(&out, "pipeline_request_seconds_bucket{le=\"%v\"} %d\n", b, m.buckets[i])
	}
	fmt.Fprintf(&out,
		"pipeline_request_seconds_bucket{le=\"+Inf\"} %d\npipeline_request_seconds_sum "+
			"%v\npipeline_request_seconds_count %[1]d\n", m.n, m.seconds)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write([]byte(out.String()))
	return nil
}
