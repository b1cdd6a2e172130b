package events_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label/events"
)

// exifPhoto is the beginning of a JPEG that says when it was taken: "2025:06:14 10:11:12",
// with an offset such as "+02:00" and the serial number of the camera, or "".
func exifPhoto(taken, offset, serial string) []byte {
	order := binary.BigEndian
	type entry struct {
		tag  uint16
		text string
	}
	var entries []entry
	for _, e := range []entry{{0x9003, taken}, {0x9011, offset}, {0xa431, serial}} {
		if e.text != "" {
			entries = append(entries, entry{e.tag, e.text + strings.Repeat("\x00", 5)}) // five: never inline
		}
	}
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x1a\x00\x00\x00\x00")
	b = order.AppendUint16(b, uint16(len(entries)))
	at := len(b) + 12*len(entries)
	texts := ""
	for _, e := range entries {
		b = order.AppendUint16(order.AppendUint16(b, e.tag), 2)
		b = order.AppendUint32(order.AppendUint32(b, uint32(len(e.text))), uint32(at+len(texts)))
		texts += e.text
	}
	b = append([]byte("Exif\x00\x00"), append(b, texts...)...)
	return append(order.AppendUint16([]byte("\xff\xd8\xff\xe1"), uint16(len(b)+2)), b...)
}

// grouped writes photos, "NAME" or "NAME|TIME|OFFSET|SERIAL", and returns the members of
// each event.
func grouped(t *testing.T, opts events.Options, photos ...string) (sets []string, g *events.Groups) {
	t.Helper()
	root := t.TempDir()
	var list []events.Photo
	for _, p := range photos {
		part := append(strings.Split(p, "|"), "", "", "")
		file := filepath.Join(root, part[0])
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		taken := ""
		if part[3] == "list" {
			taken, part[1], part[3] = part[1], "", ""
		}
		must.Do(t, os.WriteFile(file, exifPhoto(part[1], part[2], part[3]), 0o644))
		at := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
		must.Do(t, os.Chtimes(file, at, at))
		list = append(list, events.Photo{Path: part[0], Rows: 1, Taken: taken})
	}
	g = must.Get(events.Group(t.Context(), root, slices.Values(list), opts))(t)
	members := map[string][]string{}
	for _, p := range list {
		name := g.EventOf(p.Path).Name
		members[name] = append(members[name], p.Path)
	}
	n := 0
	for _, e := range g.Events {
		sets = append(sets, strings.Join(members[e.Name], " "))
		if n += e.Photos; e.Photos != len(members[e.Name]) || e.End.Before(e.Start) {
			t.Errorf("%+v has %v", e, members[e.Name])
		}
	}
	if n != len(list) || g.Times.EXIF+g.Times.Table+g.Times.Names+g.Times.Files+g.Times.Unknown != n {
		t.Errorf("%d photos in events, %+v", n, g.Times)
	}
	return sets, g
}

func TestGroup(t *testing.T) {
	for name, c := range map[string]struct {
		photos, want []string
		fileTimes    bool
	}{
		"a gap, equal times and midnight": {
			photos: []string{"a.jpg|2025:12:31 23:59:30", "b.jpg|2026:01:01 00:00:10", "c.jpg|2026:01:01 00:00:10",
				"d.jpg|2026:01:01 00:01:11"},
			want: []string{"a.jpg b.jpg c.jpg", "d.jpg"},
		},
		"cameras are folders": {
			photos: []string{"x/a.jpg|2025:06:14 10:00:00", "y/a.jpg|2025:06:14 10:00:01",
				"x/b.jpg|2025:06:14 10:00:02"},
			want: []string{"x/a.jpg x/b.jpg", "y/a.jpg"},
		},
		"or serial numbers": {
			photos: []string{"x/a.jpg|2025:06:14 10:00:00||7", "y/a.jpg|2025:06:14 10:00:01||7",
				"x/b.jpg|2025:06:14 10:00:02||8"},
			want: []string{"x/a.jpg y/a.jpg", "x/b.jpg"},
		},
		"times in names": {
			photos: []string{"IMG_20250614_101112.jpg", "PXL_20250614_101150345.jpg",
				"WhatsApp Image 2025-06-14 at 10.12.20.jpg", "2025-06-14 10h12m30.jpg", "IMG_20250631_101112.jpg",
				"IMG_20250614.jpg", "20250614_101300_2.jpg", "x120250614101300.jpg"},
			want: []string{"IMG_20250614_101112.jpg PXL_20250614_101150345.jpg WhatsApp Image 2025-06-14 at " +
				"10.12.20.jpg 2025-06-14 10h12m30.jpg 20250614_101300_2.jpg", "IMG_20250631_101112.jpg",
				"IMG_20250614.jpg", "x120250614101300.jpg"},
		},
		"times in a list, which are before those in names": {
			photos: []string{"a.jpg|2025-06-14T10:11:12||list", "IMG_20240101_101112.jpg|2025-06-14 10:11:40.5||list",
				"b.jpg|2025:06:14 10:12:10||list", "c.jpg|2025/06/14 10:13:11||list", "d.jpg|today||list"},
			want: []string{"a.jpg IMG_20240101_101112.jpg b.jpg", "c.jpg", "d.jpg"},
		},
		"no times":   {photos: []string{"a.jpg", "b.jpg"}, want: []string{"a.jpg", "b.jpg"}},
		"file times": {photos: []string{"a.jpg", "b.jpg"}, want: []string{"a.jpg b.jpg"}, fileTimes: true},
		"the clock was reset before each of three bursts": {
			photos: []string{"IMG_0001.JPG|2018:01:01 00:00:05", "IMG_0002.JPG|2018:01:01 00:00:09",
				"IMG_0003.JPG|2018:01:01 00:00:12", "IMG_0004.JPG|2018:01:01 00:00:06",
				"IMG_0005.JPG|2018:01:01 00:00:06", "IMG_0006.JPG|2018:01:01 00:00:11",
				"IMG_0009.JPG|2018:01:01 00:00:07", "IMG_0010.JPG|2018:01:01 00:00:08"},
			want: []string{"IMG_0001.JPG IMG_0002.JPG IMG_0003.JPG", "IMG_0004.JPG IMG_0005.JPG IMG_0006.JPG",
				"IMG_0009.JPG IMG_0010.JPG"},
		},
		"numbers begin again": {
			photos: []string{"IMG_9998.JPG|2025:06:14 10:00:00", "IMG_9999.JPG|2025:06:14 10:00:02",
				"IMG_0001.JPG|2025:06:14 10:00:04"},
			want: []string{"IMG_9998.JPG IMG_9999.JPG IMG_0001.JPG"},
		},
		"shuffled numbers tell nothing": {
			photos: []string{"p1.jpg|2025:06:14 10:00:09", "p2.jpg|2025:06:14 10:00:01", "p3.jpg|2025:06:14 10:00:07",
				"p4.jpg|2025:06:14 10:00:00"},
			want: []string{"p1.jpg p2.jpg p3.jpg p4.jpg"},
		},
		"the hour that comes twice is one hour apart if the offset is known": {
			photos: []string{"a.jpg|2025:10:26 02:30:00|+02:00", "b.jpg|2025:10:26 02:30:10|+01:00",
				"c.jpg|2025:10:26 02:30:20|+02:00"},
			want: []string{"a.jpg c.jpg", "b.jpg"},
		},
		"one photo without an offset: the clock as shown": {
			photos: []string{"a.jpg|2025:10:26 12:30:00|+02:00", "b.jpg|2025:10:26 12:30:10"},
			want:   []string{"a.jpg b.jpg"},
		},
	} {
		got, _ := grouped(t, events.Options{Gap: time.Minute, FileTimes: c.fileTimes}, c.photos...)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
}

// TestGroupDoesNotDependOnOrder: events are the same however photos come.
func TestGroupDoesNotDependOnOrder(t *testing.T) {
	var photos []string
	for i := range 40 {
		photos = append(photos, fmt.Sprintf("c%d/IMG_%04d.jpg|2025:06:14 10:%02d:%02d", i%2, i, i/2, i%60))
	}
	want, _ := grouped(t, events.Options{Gap: time.Minute}, photos...)
	slices.Reverse(photos)
	got, _ := grouped(t, events.Options{Gap: time.Minute}, photos...)
	for i, set := range got {
		members := strings.Fields(set)
		slices.Sort(members)
		got[i] = strings.Join(members, " ")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
