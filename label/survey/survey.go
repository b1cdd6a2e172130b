// Package survey counts the events of camera traps as ecologists report them: species by
// station and week, and by hour of the day.
//
//	species.csv        one row per station and ISO week
//	activity.csv       one row per hour
//	activity.svg .png  the same as a figure, of the classes with most events
//
// An event counts once for each of its labels, when it begins, by the clock of the camera. One
// whose photos were all rejected or set aside counts as unknown. Cost: linear in the events,
// and in the cells of species.csv.
package survey

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/export"
)

const hours = 24

// A Survey counts events.
type Survey struct {
	labels []string // that any event has, sorted
	weeks  map[stationWeek]*count
	days   map[stationWeek]float64 // of effort, where that is known
	hours  [hours]count
}

// A stationWeek is a row of species.csv; week is "" where the time is not known.
type stationWeek struct{ station, week string }

// A count is one of events.
type count struct {
	events, unknown int
	by              map[string]int // label
}

func (c *count) add(e *events.Event) {
	c.events++
	if len(e.Labels) == 0 {
		c.unknown++
	}
	if c.by == nil {
		c.by = map[string]int{}
	}
	for _, l := range e.Labels {
		c.by[l]++
	}
}

// cells are those of some labels, after the numbers of all events and of unknown ones.
func (c *count) cells(labels []string) []string {
	out := []string{strconv.Itoa(c.events), strconv.Itoa(c.unknown)}
	for _, l := range labels {
		out = append(out, strconv.Itoa(c.by[l]))
	}
	return out
}

// New counts events whose labels are known. deployments say how long a station was watched,
// each under the name of its station; a week of one without an event has a row, too.
func New(all []*events.Event, deployments export.Deployments) *Survey {
	s := &Survey{weeks: map[stationWeek]*count{}, days: map[stationWeek]float64{}}
	for station := range deployments {
		if from, to, ok := deployments.Span(station); ok {
			s.watched(station, from, to)
		}
	}
	seen := map[string]bool{}
	for _, e := range all {
		if !e.Counts() {
			continue
		}
		at := stationWeek{station: e.Station}
		if !e.Start.IsZero() {
			at.week = weekOf(e.Start)
			s.hours[e.Start.Hour()].add(e)
		}
		if s.weeks[at] == nil {
			s.weeks[at] = &count{}
		}
		if _, _, known := deployments.Span(e.Station); known && at.week != "" {
			s.days[at] += 0 // an event outside the time of its deployment
		}
		s.weeks[at].add(e)
		for _, l := range e.Labels {
			seen[l] = true
		}
	}
	s.labels = slices.Sorted(maps.Keys(seen))
	return s
}

// watched adds the effort of a station, and its weeks.
func (s *Survey) watched(station string, from, to time.Time) {
	y, m, d := from.Date()
	monday := time.Date(y, m, d-(int(from.Weekday())+6)%7, 0, 0, 0, 0, from.Location())
	for ; monday.Before(to); monday = monday.AddDate(0, 0, 7) {
		at, next := stationWeek{station, weekOf(monday)}, monday.AddDate(0, 0, 7)
		begin, end := from, to
		if begin.Before(monday) {
			begin = monday
		}
		if end.After(next) {
			end = next
		}
		s.days[at], s.weeks[at] = end.Sub(begin).Hours()/24, &count{}
	}
}

// weekOf returns a week of ISO 8601, such as 2025-W24.
func weekOf(t time.Time) string {
	year, week := t.ISOWeek()
	return fmt.Sprintf("%d-W%02d", year, week)
}

// columns are the names of the columns of cells. A class that is called like another column
// is "class:" and its name.
func (s *Survey) columns(first ...string) []string {
	names := append(first, "events", "unknown")
	for _, l := range s.labels {
		if slices.Contains(names[:len(first)+2], l) {
			l = "class:" + l
		}
		names = append(names, dataset.SafeCell(l))
	}
	return names
}

// species are the rows of species.csv.
func (s *Survey) species() [][]string {
	rows := [][]string{s.columns("station", "week", "days")}
	order := slices.SortedFunc(maps.Keys(s.weeks), func(a, b stationWeek) int {
		return cmp.Or(cmp.Compare(a.station, b.station), cmp.Compare(a.week, b.week))
	})
	for _, at := range order {
		effort := ""
		if days, known := s.days[at]; known {
			effort = label.Digits(math.Round(100*days) / 100)
		}
		rows = append(rows, append([]string{dataset.SafeCell(at.station), at.week, effort},
			s.weeks[at].cells(s.labels)...))
	}
	return rows
}

// activity are the rows of activity.csv.
func (s *Survey) activity() [][]string {
	rows := [][]string{s.columns("hour")}
	for hour := range s.hours {
		rows = append(rows, append([]string{strconv.Itoa(hour)}, s.hours[hour].cells(s.labels)...))
	}
	return rows
}

// A Sink is a label.Sink that writes a Survey into a folder when all rows are written.
type Sink struct {
	*Survey
	Dir string
}

// Put implements label.Sink.
func (s Sink) Put(label.Scored) error { return nil }

// Abort implements label.Sink.
func (s Sink) Abort() {}

// Commit implements label.Sink.
func (s Sink) Commit(embedding.Outcome) error {
	for name, rows := range map[string][][]string{label.SpeciesName: s.species(), activityTable: s.activity()} {
		err := atomicfile.Write(filepath.Join(s.Dir, name), func(f *atomicfile.File) error {
			return csv.NewWriter(f).WriteAll(rows)
		})
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	if f := s.figure(); f != nil {
		return f.Write(s.Dir)
	}
	return nil
}

const activityTable = label.ActivityName + ".csv"

// Files implements label.Lister.
func (s Sink) Files() []string {
	files := []string{label.SpeciesName, activityTable}
	if s.figure() != nil {
		files = append(files, label.ActivityName+".png", label.ActivityName+".svg")
	}
	return files
}
