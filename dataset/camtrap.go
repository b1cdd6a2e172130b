package dataset

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// isObservations recognises observations.csv of a Camera Trap Data Package.
func isObservations(header []string) bool {
	return slices.Contains(header, "observationID") && slices.Contains(header, "mediaID")
}

// observations reads such a table as paths, which label writes as mediaID, and classes. An
// observation of a whole event, which has no medium, is left out where others have one.
func observations(r records, err error) (records, error) {
	at := func(name string) int { return slices.Index(r.header, name) }
	media, kind, name, tags := at("mediaID"), at("observationType"), at("scientificName"), at("observationTags")
	how, who := at("classificationMethod"), at("classifiedBy")
	place, start, end := at("deploymentID"), at("eventStart"), at("eventEnd")
	out := r
	out.header, out.first, out.several, out.media = []string{"path", "label", "by", "probability"}, nil, true, true
	out.events = place >= 0 && start >= 0 && end >= 0
	if err == nil && out.events {
		err = r.each(nil, func(_ int, cells []string) bool {
			out.events = field(cells, media) == ""
			return out.events
		})
	}
	out.each = func(_ []int, use func(number int, cells []string) bool) error {
		return r.each(nil, func(number int, cells []string) bool {
			get := func(i int) string { return field(cells, i) }
			by := cmp.Or(get(who), "person")
			if get(how) == "machine" {
				by = ""
			}
			row := []string{get(media), JoinLabels(observed(get(kind), get(name), get(tags))), by, ""}
			if out.events {
				row = append(row, get(place), get(start), get(end))
			}
			return use(number, row)
		})
	}
	return out, err
}

// observed is the class of an observation: a tag "class:" of it, its scientific name, or
// what it is of; "" if nobody knows.
func observed(kind, name, tags string) string {
	for tag := range strings.SplitSeq(tags, "|") {
		if class, ok := strings.CutPrefix(strings.TrimSpace(tag), "class:"); ok {
			return class
		}
	}
	switch {
	case name != "" && !strings.EqualFold(name, "NaN"): // which stands for nothing in packages before 1.0
		return name
	case kind == "human", kind == "vehicle", kind == "blank":
		return kind
	}
	return ""
}

// mediaTable is the table of a Camera Trap Data Package that has the paths of its media.
const mediaTable = "media.csv"

// A medium is a row of it.
type medium struct {
	id, path, name, deployment string
	at                         time.Time // zero if it is not known
}

// withMedia replaces identifiers of media by the paths that media.csv, in the same folder, has for them, and an
// event by the photos of its deployment and time. Identifiers that are paths of photos, as label writes them, stay.
func (g guesser) withMedia(r records) (records, error) {
	media, err := g.media()
	if err != nil {
		return r, err
	}
	if media == nil && r.events {
		return r, fmt.Errorf("its observations are of events, and there is no %s in its folder, which says what their "+
			"photos are", mediaTable)
	}
	paths, taken := map[string]string{}, map[string][]medium{}
	slices.SortStableFunc(media, func(a, b medium) int { return a.at.Compare(b.at) })
	for _, m := range media {
		paths[m.id] = m.path
		if !m.at.IsZero() {
			taken[m.deployment] = append(taken[m.deployment], m)
		}
	}
	out := r
	out.first = nil
	out.each = func(columns []int, use func(int, []string) bool) error {
		return r.each(columns, func(number int, cells []string) bool {
			if r.events {
				return eachOf(taken[cells[4]], cells, func(row []string) bool { return use(number, row) })
			}
			if file, ok := paths[cells[0]]; ok && !g.exists(cells[0], "") {
				cells = slices.Clone(cells)
				cells[0] = file
			}
			return use(number, cells)
		})
	}
	return out, nil
}

// eachOf calls use with a row of each photo of an event, given the photos of its deployment by time, until that
// returns false. Of an event without photos the row has its time instead of a path, and is reported.
func eachOf(taken []medium, event []string, use func(row []string) bool) bool {
	start, err := instant(event[5])
	end, err2 := instant(event[6])
	if err != nil || err2 != nil {
		taken = nil
	}
	some := false
	first, _ := slices.BinarySearchFunc(taken, start, func(m medium, at time.Time) int { return m.at.Compare(at) })
	for _, m := range taken[first:] {
		if m.at.After(end) {
			break
		}
		some = true
		if !use(slices.Concat([]string{m.path}, event[1:4])) {
			return false
		}
	}
	return some || use(slices.Concat([]string{fmt.Sprintf("event %s of %s", event[5], event[4])}, event[1:4]))
}

// media reads media.csv; it is nil if there is none. Paths below its folder are absolute. Where the path is the
// address of a server and not of a photo here, the name of the file is, in the folder of the deployment, wherever that
// is, or alone if no other has it.
func (g guesser) media() (all []medium, err error) {
	if g.dir == "" {
		return nil, nil
	}
	f, _, err := regularfile.Open(filepath.Join(g.dir, mediaTable))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		defer f.Close()
		all, err = readMedia(f)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s in its folder: %w", mediaTable, err)
	}
	named := map[string]int{}
	for _, m := range all {
		named[m.name]++
	}
	photos := sync.OnceValue(func() map[string][]string { return photosByName(g.root) })
	for i := range all {
		m := &all[i]
		if here := filepath.Join(g.dir, filepath.FromSlash(m.path)); !filepath.IsAbs(m.path) && isRegular(here) {
			if absolute, err := filepath.Abs(here); err == nil {
				m.path = absolute
			}
		}
		if m.name == "" || !strings.Contains(m.path, "://") || isImageName(m.path) {
			continue
		}
		if below := m.deployment + "/" + m.name; g.exists(below, "") {
			m.path = below
		} else if named[m.name] == 1 && g.exists(m.name, "") {
			m.path = m.name
		} else if found := inDeployment(photos()[m.name], m.deployment); len(found) == 1 {
			m.path = found[0]
		}
	}
	return all, nil
}

// photosByName returns the photos below a folder by the names of their files.
func photosByName(root string) map[string][]string {
	named := map[string][]string{}
	_ = filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		switch below, outside := filepath.Rel(root, file); {
		case err != nil || outside != nil || e.IsDir() && below != "." && hiddenName(e.Name()):
			return fs.SkipDir // of what cannot be read nothing is known
		case !e.IsDir() && isImageName(below):
			named[e.Name()] = append(named[e.Name()], filepath.ToSlash(below))
		}
		return nil
	})
	return named
}

// inDeployment returns the photos that lie in a folder of a deployment: one with its name, or with that part of it
// that follows what a server such as TRAPPER's puts before it, as R01 in r0001-R01.
func inDeployment(photos []string, deployment string) (found []string) {
	for _, photo := range photos {
		folders := strings.Split(path.Dir(photo), "/")
		if slices.ContainsFunc(folders, func(folder string) bool {
			before, ok := strings.CutSuffix(deployment, folder)
			return ok && (before == "" || strings.ContainsAny(before[len(before)-1:], "-_ /"))
		}) {
			found = append(found, photo)
		}
	}
	return found
}

// instant reads a time with a zone, which may lack its colon.
func instant(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05Z0700", text)
	}
	return at, err
}

func readMedia(f io.Reader) ([]medium, error) {
	table := csv.NewReader(newLineLimiter(f))
	table.ReuseRecord = true
	header, err := table.Read()
	if err != nil {
		return nil, err
	}
	at := func(name string) int { return slices.Index(header, name) }
	id, file, name, place, when := at("mediaID"), at("filePath"), at("fileName"), at("deploymentID"), at("timestamp")
	all := []medium{}
	for id >= 0 && file >= 0 {
		cells, err := table.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		m := medium{id: field(cells, id), path: field(cells, file), name: field(cells, name),
			deployment: field(cells, place)}
		if err := cmp.Or(checkPath(m.path), checkPath(m.name)); err != nil {
			return nil, err
		}
		if m.at, err = instant(field(cells, when)); err != nil {
			m.at = time.Time{}
		}
		if m.id != "" && m.path != "" {
			all = append(all, m)
		}
	}
	return all, nil
}

func isRegular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
