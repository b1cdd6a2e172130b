package fscil

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// Recorded reads the sessions from the columns split ("train" or "test") and
// session (1, 2, …) of a feature folder. Rows without a session are ignored.
func Recorded(samples []dataset.Sample) (*Protocol, error) {
	rows := map[int]Session{}
	for i, x := range samples {
		if x.Session == "" {
			continue
		}
		n, err := strconv.Atoi(x.Session)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("samples.csv, row %d (%s): session %q is not 1, 2, …", i+1, x.Path, x.Session)
		}
		s, sample := rows[n], Sample{Path: x.Path, Class: dataset.EscapePath(x.Label)}
		switch strings.ToLower(x.Split) {
		case splitTrain:
			s.Train = append(s.Train, sample)
		case splitTest:
			s.Test = append(s.Test, sample)
		default:
			return nil, fmt.Errorf("samples.csv, row %d: %s: split %q is neither train nor test", i+1, x.Path, x.Split)
		}
		rows[n] = s
	}
	if len(rows) == 0 {
		return nil, errors.New("samples.csv has no sessions (columns split and session): give the official lists with --lists, or another fscil.protocol")
	}
	var sessions []Session
	for i, n := range slices.Sorted(maps.Keys(rows)) {
		if n != i+1 {
			return nil, fmt.Errorf("samples.csv has a session %d but no session %d", n, i+1)
		}
		sessions = append(sessions, rows[n])
	}
	return given(sessions)
}
