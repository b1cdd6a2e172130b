package events

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// Options say which photos are of one event.
type Options struct {
	// Gap is the longest time between two photos of an event that follow each other.
	Gap time.Duration
	// FileTimes takes the time of the last change of a file whose photo and name tell none.
	// Copying changes it.
	FileTimes bool
}

// A Photo is one to be grouped, with the number of its rows: 1, or that of its boxes.
type Photo struct {
	Path string
	Rows int
	// Taken is as in dataset.Sample.
	Taken string
	// Known is what the photo says of itself, nil to look into it.
	Known *photometa.Shot
}

// An Event is a series of photos of one camera.
type Event struct {
	// Name is unique, and sorts in the order of cameras and time.
	Name string
	// Start and End are zero if the time is not known: then the event is one photo.
	Start, End time.Time
	// Camera is its model and serial number, or the folder of its photos.
	Camera string
	// Station is that of its first photo (StationOf).
	Station string
	// Photos is their number, and Rows that of what is classified.
	Photos, Rows int
	// Labels are the classes, as Fit finds them, sorted.
	Labels []string

	zoned  bool // the time has an offset
	seen   int  // rows that could be read
	judged int  // of these, rows about which a person decided
	found  []Evidence
	shown  []Shown // what the head and people say
}

// Times counts where the times of photos come from.
type Times struct {
	EXIF, Table, Names, Files, Unknown int
	// Unread are the times in a list that are no times, or could be several.
	Unread Unread
}

// Unread are texts that are not understood, of which one is named.
type Unread struct {
	N     int
	First string
}

func (u *Unread) add(text string) {
	if u.N++; u.N == 1 {
		u.First = text
	}
}

// Groups are the events of some photos.
type Groups struct {
	Events []*Event
	Times  Times
	root   string
	of     map[string]*Event // by path of the photo
}

// A shot is a photo with what is known about it.
type shot struct {
	Photo
	photometa.Shot
	camera string
	series string // the path without the number, and the number
	number int
}

// Group groups photos below root. It reads the beginning of each file that is not Known; what
// cannot be read has no time. Memory: some hundred bytes per photo.
//
// Photos of a camera follow each other by time. A longer gap than opts.Gap begins an event,
// and so does a step back in time along the numbers of a series of files: a clock that was
// reset gives photos of different days the same time. A photo without a time is an event by
// itself.
func Group(ctx context.Context, root string, photos iter.Seq[Photo], opts Options) (*Groups, error) {
	g := &Groups{root: root, of: map[string]*Event{}}
	cameras := map[string][]shot{}
	for p := range photos {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := g.look(root, p, opts.FileTimes)
		cameras[s.camera] = append(cameras[s.camera], s)
	}
	for _, camera := range sorted(cameras) {
		for _, run := range split(cameras[camera], opts.Gap) {
			g.add(camera, run)
		}
	}
	digits := len(strconv.Itoa(len(g.Events)))
	for i, e := range g.Events {
		e.Name = fmt.Sprintf("event-%0*d", digits, i+1)
	}
	return g, ctx.Err()
}

func sorted(cameras map[string][]shot) (names []string) {
	for name := range cameras {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// look finds out when, and by which camera, a photo was taken.
func (g *Groups) look(root string, p Photo, fileTimes bool) shot {
	s := shot{Photo: p}
	if p.Known != nil {
		s.Shot = *p.Known
	} else {
		s.Shot = g.Times.shot(dataset.FullPath(root, p.Path), p.Taken, fileTimes)
	}
	s.series, s.number = numbered(p.Path)
	s.camera = cameraOf(s.Shot, path.Dir(p.Path))
	return s
}

// cameraOf returns the camera of a photo: two of one model are told apart by their serial
// numbers, or else by the folders of their photos.
func cameraOf(s photometa.Shot, folder string) string {
	switch {
	case s.Serial != "":
		return strings.TrimSpace(s.Camera + " " + s.Serial)
	case s.Camera != "":
		return folder + " " + s.Camera
	}
	return folder
}

// StationOf names the station of a photo below root: its first-level folder, or its camera if
// it is in none.
func StationOf(root, photo string, s photometa.Shot) string {
	top, _, nested := strings.Cut(strings.TrimPrefix(photo, "/"), "/")
	if nested {
		return dataset.EscapePath(top)
	}
	return dataset.EscapePath(cmp.Or(s.Serial, s.Camera, filepath.Base(root)))
}

// ShotOf returns when, and by which camera, a photo was taken: by its EXIF, otherwise by what
// a list says of it, its name or, if fileTimes, by the last change of its file. A file that cannot be read has
// neither.
func ShotOf(file, taken string, fileTimes bool) photometa.Shot {
	return new(Times).shot(file, taken, fileTimes)
}

// shot is ShotOf, and counts where the time is from.
func (t *Times) shot(file, taken string, fileTimes bool) photometa.Shot {
	s, _ := photometa.ReadShot(file) // an unreadable file is reported where it is embedded
	named := timeIn(filepath.Base(file))
	written, zoned := TimeOf(taken)
	if written.IsZero() && strings.TrimSpace(taken) != "" {
		t.Unread.add(taken)
	}
	switch info, err := os.Stat(file); {
	case !s.Time.IsZero():
		t.EXIF++
	case !written.IsZero():
		s.Time, s.Zoned = written, zoned
		t.Table++
	case !named.IsZero():
		s.Time = named
		t.Names++
	case fileTimes && err == nil:
		s.Time, s.Zoned = info.ModTime(), true
		t.Files++
	default:
		t.Unknown++
	}
	return s
}

// numbered cuts a path at the last digits of its name: IMG_0012.JPG is number 12 of the
// series IMG_.JPG of four digits.
func numbered(file string) (series string, number int) {
	stem := strings.TrimSuffix(file, path.Ext(file))
	head := strings.TrimRight(stem, "0123456789")
	digits := stem[len(head):]
	n, err := strconv.Atoi(digits)
	if err != nil || strings.HasSuffix(head, "/") && len(digits) > 6 {
		return file, 0
	}
	return fmt.Sprint(head, len(digits), path.Ext(file)), n
}

// split divides the photos of one camera into events.
func split(shots []shot, gap time.Duration) (runs [][]shot) {
	timed := slices.DeleteFunc(slices.Clone(shots), func(s shot) bool { return s.Time.IsZero() })
	clocks(timed)
	counted := chronological(timed)
	slices.SortStableFunc(timed, func(a, b shot) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Path, b.Path))
	})
	for from := 0; from < len(timed); {
		to := from + 1
		for to < len(timed) && timed[to].Time.Sub(timed[to-1].Time) <= gap {
			to++
		}
		runs = append(runs, unwound(timed[from:to], counted)...)
		from = to
	}
	for _, s := range shots {
		if s.Time.IsZero() {
			runs = append(runs, []shot{s})
		}
	}
	return runs
}

// clocks makes the times of a camera comparable: by its own clock, unless all are absolute.
func clocks(shots []shot) {
	if !slices.ContainsFunc(shots, func(s shot) bool { return !s.Zoned }) {
		return
	}
	for i, s := range shots {
		if s.Zoned {
			shots[i].Time, shots[i].Zoned = s.Clock(), false
		}
	}
}

// wrapped is the part of all numbers of a series that a step back is at least when numbers
// begin again.
const wrapped = 0.9

// bySeries returns the photos of each series in the order of their numbers.
func bySeries(shots []shot) map[string][]shot {
	series := map[string][]shot{}
	for _, s := range shots {
		series[s.series] = append(series[s.series], s)
	}
	for _, of := range series {
		slices.SortStableFunc(of, func(a, b shot) int { return cmp.Compare(a.number, b.number) })
	}
	return series
}

// chronological returns the series whose numbers grow with time, as those of a camera do
// but for a few resets of its clock, and names that were shuffled do not.
func chronological(shots []shot) map[string]bool {
	out := map[string]bool{}
	for name, of := range bySeries(shots) {
		back := 0
		for i := range of[1:] {
			if of[i+1].Time.Before(of[i].Time) {
				back++
			}
		}
		out[name] = 4*back <= len(of)
	}
	return out
}

// unwound divides photos that are near in time where time steps back along the numbers of a
// series that counted upwards: they are of different days, and the clock was reset between.
func unwound(run []shot, counted map[string]bool) [][]shot {
	series := bySeries(run)
	parts := map[string][]shot{} // by series and how often time has stepped back in it
	var order []string
	for _, name := range sorted(series) {
		of, back := series[name], 0
		for i, s := range of {
			if i > 0 && counted[name] && s.Time.Before(of[i-1].Time) && !beginsAgain(of[i-1], s) {
				back++
			}
			key := fmt.Sprint(back)
			if back > 0 {
				key += " " + name
			}
			if parts[key] == nil {
				order = append(order, key)
			}
			parts[key] = append(parts[key], s)
		}
	}
	var out [][]shot
	for _, key := range order {
		part := parts[key]
		slices.SortStableFunc(part, func(a, b shot) int {
			return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Path, b.Path))
		})
		out = append(out, part)
	}
	slices.SortStableFunc(out, func(a, b []shot) int { return a[0].Time.Compare(b[0].Time) })
	return out
}

// beginsAgain reports whether the numbers from low to high are the ends of a series that
// began again at its first number, as after IMG_9999.
func beginsAgain(low, high shot) bool {
	all := 1
	for all <= high.number {
		all *= 10
	}
	return high.number-low.number > 100 && float64(high.number-low.number) > wrapped*float64(all)
}

// add makes an event of photos.
func (g *Groups) add(camera string, run []shot) {
	first, last := run[0], run[len(run)-1]
	e := &Event{Start: first.Time, End: last.Time, Camera: camera, Station: StationOf(g.root, first.Path, first.Shot),
		Photos: len(run), zoned: first.Zoned}
	for _, s := range run {
		e.Rows += s.Rows
		g.of[s.Path] = e
	}
	g.Events = append(g.Events, e)
}

// EventOf returns the event of a photo, nil if it was not grouped.
func (g *Groups) EventOf(photo string) *Event { return g.of[photo] }
