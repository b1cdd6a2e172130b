package export

import (
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/events"
	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// Options say what is exported where.
type Options struct {
	// Root is the folder that the paths of the photos are relative to; Dir is that of the
	// results.
	Root, Dir string
	// Classes are those of the model, in its order, and Model is its name.
	Classes []string
	Model   string
	// Splits are the parts that rows belong to, nil if they are not divided.
	Splits []string
	// Size returns the size of the upright photo in a file, in pixels.
	Size func(file string) (width, height int, err error)
	// Crop returns a JPEG of what the backbone sees of a box in a file.
	Crop func(file string, b *dataset.Box) ([]byte, error)
	// Deployments are known of some, by name.
	Deployments Deployments
	// Shot returns what is known about when a photo was taken, given what a list says of it
	// (dataset.Sample.Taken), and Now the time; nil is time.Now.
	Shot func(file, taken string) photometa.Shot
	Now  func() time.Time
	// Events are those of the photos, with their labels; nil without events.
	Events []*events.Event
	// Empty are the photos without boxes, where rows are boxes.
	Empty []dataset.BoxedPhoto
}

// A format is one that other programs load.
type format struct {
	begin func(Options) (label.Sink, error)
	// photos reports that it says something of whole photos themselves, or has them.
	photos bool
}

var formats = map[string]format{
	folderName:  {newImageFolder, true},
	cocoName:    {newCOCO, true},
	studioName:  {newStudio, false},
	camtrapName: {newCamtrap, true},
}

// NeedsPhotos reports whether a format says something of whole photos themselves, or has
// them.
func NeedsPhotos(name string) bool { return formats[name].photos }

// Sinks returns the exports among some formats, in their order.
func Sinks(names []string, o Options) (sinks []label.Sink, err error) {
	o = o.resolved()
	for _, name := range names {
		f, ok := formats[name]
		if !ok {
			continue // a table
		}
		if o.Dir == "" {
			return nil, fmt.Errorf("export as %s: set Dir of the options", name)
		}
		sink, err := f.begin(o)
		if err != nil {
			for _, s := range sinks {
				s.Abort()
			}
			return nil, fmt.Errorf("export as %s: %w", name, err)
		}
		sinks = append(sinks, sink)
	}
	return sinks, nil
}

// resolved returns the options with functions that say what is missing.
func (o Options) resolved() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Size == nil {
		o.Size = func(string) (int, int, error) { return 0, 0, errors.New("export: set Size of the options") }
	}
	if o.Crop == nil {
		o.Crop = func(string, *dataset.Box) ([]byte, error) {
			return nil, errors.New("export: set Crop of the options")
		}
	}
	if o.Shot == nil {
		o.Shot = func(file, taken string) photometa.Shot { return events.ShotOf(file, taken, false) }
	}
	return o
}

// below returns paths of files as paths below the folder of the results.
func below(folder string, files []string) []string {
	var out []string
	for _, file := range files {
		out = append(out, path.Join(folder, file))
	}
	return out
}

// photo returns the path of the photo of a row as text.
func photo(s label.Scored) string { return dataset.EscapePath(s.Sample.File()) }

// A classes table numbers classes from 1: those of the model in its order, then those
// that people gave and the model has not learned, as they come.
type classes struct {
	names  []string
	number map[string]int
}

func newClasses(names []string) *classes {
	c := &classes{number: map[string]int{}}
	for _, name := range names {
		c.of(name)
	}
	return c
}

func (c *classes) of(name string) int {
	if c.number[name] == 0 {
		c.names = append(c.names, name)
		c.number[name] = len(c.names)
	}
	return c.number[name]
}
