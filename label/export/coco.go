package export

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
)

const cocoName = "coco"

// COCO's format: a photo is an image with its class as an annotation of the whole image,
// which has no bbox, as in COCO Camera Traps, one for each of several things; a row that is a
// box is an annotation with a bbox in pixels of the upright photo. Photos without a class are
// images without an annotation. Of a split, each part is a file.
type coco struct {
	*folder
	o       Options
	splits  []string
	parts   map[string]*cocoPart // by split
	classes *classes
	last    cocoImage // the boxes of a photo follow each other
	images  int
	labels  int
}

// A cocoPart is one file; annotations are beside it until it is complete.
type cocoPart struct {
	file, annotations *file
	images, labels    array
}

type cocoImage struct {
	ID       int    `json:"id"`
	File     string `json:"file_name"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Rejected bool   `json:"rejected,omitempty"`
	SetAside bool   `json:"set_aside,omitempty"`
}

type cocoAnnotation struct {
	ID       int       `json:"id"`
	Image    int       `json:"image_id"`
	Category int       `json:"category_id"`
	Box      []float64 `json:"bbox,omitempty"`
	Area     float64   `json:"area,omitempty"`
	Crowd    *int      `json:"iscrowd,omitempty"`
	// What COCO has no field for; the probability of one of several things is not known.
	Probability *float   `json:"probability,omitempty"`
	New         *float   `json:"p_new,omitempty"`
	By          label.By `json:"by"`
}

type cocoCategory struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// cocoFile names the file of a part.
func cocoFile(split string) string {
	if split == "" {
		return "instances.json"
	}
	return "instances_" + split + ".json"
}

func newCOCO(o Options) (label.Sink, error) {
	splits := o.Splits
	if splits == nil {
		splits = []string{""}
	}
	var names []string
	for _, split := range splits {
		names = append(names, cocoFile(split))
	}
	f, err := newFolder(o.Dir, cocoName, names, "instances.json", "instances_train.json", "instances_validation.json",
		"instances_test.json")
	if err != nil {
		return nil, err
	}
	c := &coco{folder: f, o: o, splits: splits, parts: map[string]*cocoPart{}, classes: newClasses(o.Classes)}
	for _, split := range splits {
		if c.parts[split], err = c.newPart(cocoFile(split)); err != nil {
			c.Abort()
			return nil, err
		}
	}
	return c, nil
}

func (c *coco) newPart(name string) (*cocoPart, error) {
	p := &cocoPart{}
	var err error
	if p.file, err = c.create(name); err != nil {
		return nil, err
	}
	if p.annotations, err = c.create("." + name + ".annotations"); err != nil {
		return nil, err
	}
	p.images.w, p.labels.w = p.file, p.annotations
	_, err = p.file.WriteString("{\"info\": {\"description\": \"labels of pipeline\"},\n\"images\": [")
	return p, err
}

// Put implements label.Sink.
func (c *coco) Put(row label.Scored) error {
	p := c.parts[row.Split]
	if p == nil {
		return fmt.Errorf("no part %q", row.Split)
	}
	whole := row.Sample.Box == nil
	if c.images == 0 || whole || photo(row) != c.last.File {
		image := cocoImage{Rejected: whole && row.Rejected, SetAside: whole && row.OfNoClass()}
		if err := c.image(p, row.Sample.File(), image); err != nil {
			return err
		}
	}
	for _, class := range row.Names() {
		c.labels++
		if err := p.labels.add(c.annotation(row, class)); err != nil {
			return err
		}
	}
	return nil
}

// image adds a photo.
func (c *coco) image(p *cocoPart, name string, image cocoImage) (err error) {
	image.Width, image.Height, err = c.o.Size(dataset.FullPath(c.o.Root, name))
	if err != nil {
		return &label.ItemError{Err: err}
	}
	c.images++
	image.ID, image.File = c.images, dataset.EscapePath(name)
	c.last = image
	return p.images.add(image)
}

// annotation says that the last image, or a box in it, is of a class.
func (c *coco) annotation(row label.Scored, class string) cocoAnnotation {
	a := cocoAnnotation{ID: c.labels, Image: c.last.ID, Category: c.classes.of(class), New: optional(row.New),
		By: row.By}
	if !row.SetAside() {
		a.Probability = optional(&row.Prediction.Probability)
	}
	if b := row.Sample.Box; b != nil {
		w, h := float64(c.last.Width), float64(c.last.Height)
		a.Box = []float64{hundredth(b.X * w), hundredth(b.Y * h), hundredth(b.W * w), hundredth(b.H * h)}
		a.Area, a.Crowd = hundredth(a.Box[2]*a.Box[3]), new(0)
	}
	return a
}

// hundredth rounds to a hundredth of a pixel.
func hundredth(x float64) float64 { return math.Round(100*x) / 100 }

// Commit implements label.Sink.
func (c *coco) Commit(o embedding.Outcome) error {
	for _, photo := range c.o.Empty {
		var unreadable *label.ItemError
		err := c.image(c.parts[c.splits[0]], photo.Path, cocoImage{})
		if err != nil && !errors.As(err, &unreadable) {
			return err
		}
	}
	for _, split := range c.splits {
		if err := c.finish(c.parts[split]); err != nil {
			return err
		}
	}
	return c.folder.Commit(o)
}

// finish writes the annotations after the images, then the categories.
func (c *coco) finish(p *cocoPart) error {
	if _, err := p.file.WriteString("\n],\n\"annotations\": ["); err != nil {
		return err
	}
	if err := p.annotations.appendTo(p.file); err != nil {
		return err
	}
	if _, err := p.file.WriteString("\n],\n\"categories\": ["); err != nil {
		return err
	}
	categories := array{w: p.file}
	for i, name := range c.classes.names {
		if err := categories.add(cocoCategory{i + 1, name}); err != nil {
			return err
		}
	}
	if _, err := p.file.WriteString("\n]}\n"); err != nil {
		return err
	}
	return p.file.close()
}
