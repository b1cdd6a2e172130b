package build

import (
	"runtime/debug"
	"testing"
)

func TestCommit(t *testing.T) {
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "0f5b"}, {Key: "vcs.modified", Value: "false"}}, "0f5b"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "0f5b"}, {Key: "vcs.modified", Value: "true"}},
			"0f5b+changes"},
	} {
		if got := commit(c.settings); got != c.want {
			t.Errorf("%v: %q", c.settings, got)
		}
	}
}
