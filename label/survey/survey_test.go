package survey

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/chart/charttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/label/export"
)

// event is one of some labels, separated by commas.
func event(t *testing.T, station, at, labels string) *events.Event {
	t.Helper()
	e := &events.Event{Station: station}
	if at != "" {
		var err error
		if e.Start, err = time.Parse(time.RFC3339, at); err != nil {
			t.Fatal(err)
		}
	}
	if labels != "" {
		e.Labels = strings.Split(labels, ",")
	}
	return e
}

// text joins rows as CSV.
func text(rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	return b.String()
}

// places reads what is known of deployments.
func places(t *testing.T, table string) export.Deployments {
	t.Helper()
	file := filepath.Join(t.TempDir(), "places.csv")
	must.Do(t, os.WriteFile(file, []byte(table), 0o644))
	return must.Get(export.ReadDeployments(file))(t)
}

func TestSurvey(t *testing.T) {
	unread := event(t, "north", "2025-06-14T10:00:00Z", "")
	unread.Rows = 2 // none of which could be read
	s := New([]*events.Event{
		event(t, "north", "2024-12-29T23:59:59Z", "fox"),         // a Sunday
		event(t, "north", "2024-12-30T00:00:00Z", "fox,hare"),    // of week 1 of 2025
		event(t, "north", "2024-12-30T00:30:00+02:00", "person"), // the day before in UTC
		event(t, "north", "2024-12-31T05:00:00Z", ""),
		event(t, "south", "2025-01-02T05:59:00Z", "empty"),
		event(t, "south", "", "fox"),
		event(t, "=1", "2025-01-02T06:00:00Z", "events,=fox"),
		unread,
	}, places(t, "deploymentID,deploymentStart,deploymentEnd\nsouth,2024-12-28T12:00:00Z,2025-01-07T00:00:00Z\n"+
		"idle,2025-01-06T00:00:00+02:00,2025-01-12T12:00:00+02:00\nnorth,2025-01-01T00:00:00Z,\n"))
	want := `station,week,days,events,unknown,'=fox,empty,class:events,fox,hare,person
'=1,2025-W01,,1,0,1,0,1,0,0,0
idle,2025-W02,6.5,0,0,0,0,0,0,0,0
north,2024-W52,,1,0,0,0,0,1,0,0
north,2025-W01,,3,1,0,0,0,1,1,1
south,,,1,0,0,0,0,1,0,0
south,2024-W52,1.5,0,0,0,0,0,0,0,0
south,2025-W01,7,1,0,0,1,0,0,0,0
south,2025-W02,1,0,0,0,0,0,0,0,0
`
	if got := text(s.species()); got != want {
		t.Errorf("species.csv\n%s, want\n%s", got, want)
	}
	rows := s.activity()
	for hour, want := range map[int]string{0: "0,2,0,0,0,0,1,1,1", 5: "5,2,1,0,1,0,0,0,0", 23: "23,1,0,0,0,0,1,0,0"} {
		if got := strings.Join(rows[1+hour], ","); got != want {
			t.Errorf("activity.csv has %s, want %s", got, want)
		}
	}
	if told := s.Told(); !strings.Contains(told, "hare: 1 event, most from 0 to 1 o'clock.") ||
		strings.Contains(told, "empty") {
		t.Errorf("told %q", told)
	}
}

// TestEventsOutsideTheirDeployment have a week of no effort.
func TestEventsOutsideTheirDeployment(t *testing.T) {
	d := places(t, "deploymentID,deploymentStart,deploymentEnd\na,2025-06-09T00:00:00Z,2025-06-16T00:00:00Z\n")
	s := New([]*events.Event{event(t, "a", "2018-01-01T00:00:05Z", "fox")}, d)
	want := "station,week,days,events,unknown,fox\na,2018-W01,0,1,0,1\na,2025-W24,7,0,0,0\n"
	if got := text(s.species()); got != want {
		t.Errorf("species.csv\n%s, want\n%s", got, want)
	}
}

// TestNothingIsLost: whatever the events, the tables count each of them, and each label.
func TestNothingIsLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var all []*events.Event
	want, timed := map[string]int{}, 0
	for range 500 {
		e := &events.Event{Station: fmt.Sprint("s", rng.IntN(4))}
		for c := range 5 {
			if rng.IntN(3) == 0 {
				e.Labels = append(e.Labels, fmt.Sprint("class ", c))
				want[fmt.Sprint("class ", c)]++
			}
		}
		if rng.IntN(10) > 0 {
			e.Start = time.Date(2024, 1, 1, 0, rng.IntN(1_000_000), 0, 0, time.FixedZone("", rng.IntN(20)*1800))
			timed++
		}
		want["events"]++
		if len(e.Labels) == 0 {
			want["unknown"]++
		}
		all = append(all, e)
	}
	dir := t.TempDir()
	sink := Sink{New(all, nil), dir}
	must.Do(t, sink.Commit(embedding.Outcome{}))
	got := sums(t, filepath.Join(dir, label.SpeciesName))
	for name, n := range want {
		if got[name] != n {
			t.Errorf("species.csv has %d of %s, want %d", got[name], name, n)
		}
	}
	if n := sums(t, filepath.Join(dir, activityTable))["events"]; n != timed {
		t.Errorf("activity.csv has %d events, want %d", n, timed)
	}
	for _, name := range sink.Files() {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sums adds up the columns of numbers.
func sums(t *testing.T, file string) map[string]int {
	t.Helper()
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	rows := must.Get(csv.NewReader(f).ReadAll())(t)
	out := map[string]int{}
	for _, row := range rows[1:] {
		for i, cell := range row {
			n, _ := strconv.Atoi(cell)
			out[rows[0][i]] += n
		}
	}
	return out
}

// TestFigureIsLegible with long names, many classes, and none.
func TestFigureIsLegible(t *testing.T) {
	var all []*events.Event
	for i := range 40 {
		name := strings.Repeat(fmt.Sprintf("Species %d of a long name ", i), 1+i%7)
		for range 41 - i {
			all = append(all, event(t, "a", fmt.Sprintf("2025-06-14T%02d:00:00Z", (i*i)%24), name))
		}
	}
	f := New(all, nil).figure()
	notes := 0
	for _, text := range charttest.Legible(t, "survey", *f) {
		if strings.HasSuffix(text.String, " events") {
			notes++
		}
	}
	if notes != mostDrawn {
		t.Errorf("%d of %d classes have a note", notes, mostDrawn)
	}
	for _, none := range []*events.Event{event(t, "a", "", "fox"), event(t, "a", "2025-06-14T10:00:00Z", "empty")} {
		if New([]*events.Event{none}, nil).figure() != nil {
			t.Errorf("a figure of %+v", none)
		}
	}
}
