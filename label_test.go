package pipeline

import (
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/label"
)

// TestNotesAreNoSidecars: the summary does not call every skipped text file a sidecar.
func TestNotesAreNoSidecars(t *testing.T) {
	l := &Labelled{Summary: label.Summary{Skipped: map[string]int{"sidecar": 2, "raw": 1, "filtered": 3}}}
	l.summary(nil)
	if said := strings.Join(l.Lines(), "\n"); !strings.HasSuffix(said, "\nskipped: 1 raw, 2 text or sidecar") {
		t.Error(said)
	}
}
