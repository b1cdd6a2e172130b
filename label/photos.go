package label

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
)

const (
	// EmptyPhoto is the label of a photo without boxes.
	EmptyPhoto = "empty"
	// photosName is the table of photos, of which labels.csv has the boxes.
	photosName = "photos.csv"
	// EventsName is the table of events, which package events writes.
	EventsName = "events.csv"
	// SpeciesName, and ActivityName with an extension, are what package survey writes.
	SpeciesName, ActivityName = "species.csv", "activity"
)

// Photos counts the photos whose boxes are labelled.
type Photos struct {
	Photos int `json:"photos"`
	Boxes  int `json:"boxes"`
	// Empty photos have no box.
	Empty int `json:"empty"`
}

func photosOf(boxed *dataset.BoxesFound) *Photos {
	if boxed == nil {
		return nil
	}
	return &Photos{Photos: len(boxed.Photos), Boxes: boxed.Boxes, Empty: boxed.Empty()}
}

// A photoTable is a Sink that writes photos.csv: the labels of the boxes of each photo.
// Its memory grows by the path and the labels of each photo.
type photoTable struct {
	dir    string
	photos []dataset.BoxedPhoto
	labels map[string][]string // of the boxes of a photo, each once, by path
	read   map[string]bool
}

func newPhotoTable(dir string, boxed dataset.BoxesFound) *photoTable {
	return &photoTable{dir: dir, photos: boxed.Photos, labels: map[string][]string{}, read: map[string]bool{}}
}

// Put implements Sink.
func (t *photoTable) Put(row Scored) error {
	photo := row.Sample.File()
	t.read[photo] = true
	for _, label := range row.Names() {
		if !slices.Contains(t.labels[photo], label) {
			t.labels[photo] = append(t.labels[photo], label)
		}
	}
	return nil
}

// Commit implements Sink. Photos that could not be read are in errors.csv instead.
func (t *photoTable) Commit(embedding.Outcome) error {
	err := atomicfile.Write(filepath.Join(t.dir, photosName), func(f *atomicfile.File) error {
		w := csv.NewWriter(f)
		rows := [][]string{{"path", "labels", "n_boxes"}}
		for _, p := range t.photos {
			labels := t.labels[p.Path]
			switch {
			case p.Boxes == 0:
				labels = []string{EmptyPhoto}
			case !t.read[p.Path]:
				continue
			}
			rows = append(rows, []string{dataset.SafeCell(dataset.EscapePath(p.Path)),
				dataset.SafeCell(dataset.JoinLabels(labels...)), strconv.Itoa(p.Boxes)})
		}
		return w.WriteAll(rows)
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", photosName, err)
	}
	return nil
}

// Files implements Lister.
func (t *photoTable) Files() []string { return []string{photosName} }

// Abort implements Sink.
func (t *photoTable) Abort() {}
