package fscil

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// Recorded takes the sessions from the columns split ("train" or "test") and
// session (1, 2, …) of a feature folder. Rows without a session take no part.
func Recorded(samples []dataset.Sample) (*Protocol, error) {
	rows := map[int]*Session{}
	for i, s := range samples {
		if s.Session == "" {
			continue
		}
		n, err := strconv.Atoi(s.Session)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("samples.csv, row %d (%s): session %q is not 1, 2, …", i+1, s.Path, s.Session)
		}
		if rows[n] == nil {
			rows[n] = &Session{}
		}
		if err := rows[n].add(s); err != nil {
			return nil, fmt.Errorf("samples.csv, row %d: %w", i+1, err)
		}
	}
	return recorded(rows)
}

func (s *Session) add(x dataset.Sample) error {
	sample := Sample{Path: x.Path, Class: dataset.EscapePath(x.Label)}
	switch strings.ToLower(x.Split) {
	case splitTrain:
		s.Train = append(s.Train, sample)
	case splitTest:
		s.Test = append(s.Test, sample)
	default:
		return fmt.Errorf("%s: split %q is neither train nor test", x.Path, x.Split)
	}
	return nil
}

func recorded(rows map[int]*Session) (*Protocol, error) {
	if len(rows) == 0 {
		return nil, errors.New("samples.csv has no sessions (columns split and session): give the official lists with --lists, or another fscil.protocol")
	}
	var numbers []int
	for n := range rows {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	var sessions []Session
	for i, n := range numbers {
		if n != i+1 {
			return nil, fmt.Errorf("samples.csv has a session %d but no session %d", n, i+1)
		}
		sessions = append(sessions, *rows[n])
	}
	return given(sessions)
}
