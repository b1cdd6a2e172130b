package labels

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// TestDestinationsFirst: where results cannot be written is said before anything else, such as that there is no model
// or photo; folders above the results are made.
func TestDestinationsFirst(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 2, "kiwi", "plum")
	l.Write(l.Path("file"), nil)
	below := l.Path("file", "results")
	said := []string{"nothing can be written into " + below}
	l.Refused(command.ExitFailed, said, "embed", "--images", l.Path("none"), "--out", below)
	l.Refused(command.ExitFailed, said, "label", l.Path("none"), "--images", photos, "--out", below)
	l.Refused(command.ExitFailed, said, "label", l.Path("none"), "--images", photos, "--out", l.Path("out"),
		"--report="+below)
	l.Must("embed", "--images", photos, "--out", l.Path("a", "b"))
}
