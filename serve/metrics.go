package serve

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	prometheus "github.com/VictoriaMetrics/metrics"

	"github.com/seed-90d10d51/pipeline/internal/build"
)

// metrics are those of /metrics that count what the server does.
type metrics struct {
	set                         *prometheus.Set
	labelled, batches, together *prometheus.Counter // together: photos in batches
	build                       string              // as the label of a metric
}

// bounds are those of the histogram of requests, in seconds.
var bounds = []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5, 30}

func newMetrics(version string) *metrics {
	prometheus.ExposeMetadata(true) // the types, in all sets
	set := prometheus.NewSet()
	return &metrics{
		set:      set,
		labelled: set.NewCounter("pipeline_labelled_total"),
		batches:  set.NewCounter("pipeline_batches_total"),
		together: set.NewCounter("pipeline_batched_photos_total"),
		build: fmt.Sprintf("pipeline_build_info{version=%q,commit=%q,go=%q}", version, build.Commit(),
			build.Go()),
	}
}

func (m *metrics) count(pattern string, code int, took time.Duration) {
	method, route, _ := strings.Cut(pattern, " ")
	labels := fmt.Sprintf(`method="%s",route="%s",code="%d"`, method, route, code)
	m.set.GetOrCreateCounter("pipeline_requests_total{" + labels + "}").Inc()
	if route != "/v1/events" { // which lasts as long as the page is open
		m.set.GetOrCreatePrometheusHistogramExt(fmt.Sprintf(`pipeline_request_seconds{route="%s"}`, route), bounds).
			Update(took.Seconds())
	}
}

func (m *metrics) batch(photos int) {
	m.batches.Inc()
	m.together.Add(photos)
}

// write writes them in the text format of Prometheus, with those of the process, after those that
// state writes.
func (m *metrics) write(w http.ResponseWriter, state func(io.Writer)) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	state(w)
	m.set.WritePrometheus(w)
	prometheus.WriteGaugeUint64(w, m.build, 1)
	prometheus.WriteProcessMetrics(w)
}

func (s *Server) writeMetrics(w http.ResponseWriter, _ *http.Request) error {
	s.metrics.write(w, s.writeState)
	return nil
}

func (s *Server) writeState(w io.Writer) {
	st := s.Session.Status()
	gauge := func(name string, value float64) { prometheus.WriteGaugeFloat64(w, "pipeline_"+name, value) }
	a := st.Account
	gauge("photos", float64(st.Embedded))             // of the folder that are embedded
	gauge("photos_failed", float64(a.Failed))         // files of the folder that cannot be read as photos
	gauge("labels_person", float64(a.Decided.Person)) // photos that a person labelled
	gauge("labels_bulk", float64(a.Decided.Bulk))     // photos that were labelled by accepting predictions
	gauge("labels_list", float64(a.Decided.List))     // photos that a folder or list labelled
	gauge("labels_model", float64(a.Model-a.Unknown)) // photos that the model alone labels
	gauge("photos_unknown", float64(a.Unknown))       // photos that it calls unknown
	if e := a.Expected; e != nil && e.Accuracy != nil {
		gauge("labels_expected_right", *e.Accuracy) // share of the labels by the model
	}
	gauge("classes", float64(st.Classes))
	gauge("journal_lines", float64(st.Seq))
	kept := 1.
	if st.Lost != nil || st.Unkept != nil {
		kept = 0
	}
	gauge("decisions_kept", kept)           // 1 if decisions can be kept, 0 if not
	gauge("refit_seconds", st.RefitSeconds) // of the last fit
	// Decisions that could not be written down.
	prometheus.WriteCounterUint64(w, "pipeline_failed_writes_total", uint64(st.FailedWrites))
}
