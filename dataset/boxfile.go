package dataset

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	// mostBoxes and mostBoxesOfPhoto bound what a file of boxes takes in memory.
	mostBoxes        = 5_000_000
	mostBoxesOfPhoto = 10_000
)

// A boxFile is the content of a file of boxes: MegaDetector's, whose records have their
// boxes, or COCO's, in which these are a list of their own.
type boxFile struct {
	coco       bool
	records    []*boxRecord
	categories map[string]string // names by identifier

	byID  map[string]*boxRecord // of COCO
	texts map[string]string     // each identifier once
	boxes int
}

// A boxRecord is one photo.
type boxRecord struct {
	file          string
	width, height float64 // as COCO says
	err           error   // why its boxes are not known
	video         bool
	listed        bool // in images, and not only in annotations
	boxes         []foundBox
}

// A foundBox is a rectangle as the file has it: x, y, width and height, as shares, or as
// pixels in COCO.
type foundBox struct {
	rectangle  [4]float64
	category   string // identifier
	confidence float64
	err        error
}

// parseBoxes reads a file of boxes. Its memory is that of the boxes.
func parseBoxes(in io.Reader) (*boxFile, error) {
	left := &allowance{r: &plainNumbers{r: bufio.NewReaderSize(in, headBytes)}}
	f := &boxFile{categories: map[string]string{}, byID: map[string]*boxRecord{}, texts: map[string]string{}}
	p := boxParser{boxFile: f, d: json.NewDecoder(left), left: left}
	if err := p.file(); err != nil {
		return nil, err
	}
	if len(f.categories) == 0 && !f.coco { // its first versions did not say
		f.categories = map[string]string{"1": "animal", "2": "person", "3": "vehicle"}
	}
	return f, nil
}

type boxParser struct {
	*boxFile
	d      *json.Decoder
	left   *allowance
	listed bool
}

// file reads the one object of the file.
func (p *boxParser) file() error {
	err := p.object(func(key string) error {
		switch key {
		case "images":
			p.listed = true
			return p.array(p.image)
		case "annotations":
			p.coco = true
			return p.array(p.annotation)
		case "categories":
			p.coco = true
			return p.array(p.category)
		case "detection_categories":
			return p.object(func(id string) error {
				var name string
				if err := p.decode(&name); err != nil {
					return err
				}
				return p.name(id, name)
			})
		}
		return p.skip()
	})
	switch {
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the JSON ends too early, after %d bytes; the file is incomplete", p.d.InputOffset())
	case err != nil:
		return fmt.Errorf("byte %d: %w", p.d.InputOffset(), err)
	case !p.listed:
		return errors.New(`no list "images": it is neither of MegaDetector's format nor of COCO's`)
	}
	for _, id := range slices.Sorted(maps.Keys(p.byID)) {
		if r := p.byID[id]; !r.listed {
			r.file = "image_id " + id
			p.records = append(p.records, r)
		}
	}
	return nil
}

// identifier returns the text of a JSON string or number: some tools write the one, some
// the other.
func identifier(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }

func (p *boxParser) decode(v any) error {
	p.left.bytes = mostRecord
	return p.d.Decode(v)
}

func (p *boxParser) token() (json.Token, error) {
	p.left.bytes = mostRecord
	return p.d.Token()
}

// open reads the beginning of an object or array.
func (p *boxParser) open(want json.Delim) error {
	t, err := p.token()
	if err == nil && t != want {
		return fmt.Errorf("%v where %q is expected: it is neither of MegaDetector's format nor of COCO's", t, want)
	}
	return err
}

func (p *boxParser) object(value func(key string) error) error {
	if err := p.open('{'); err != nil {
		return err
	}
	for p.d.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // the decoder accepts nothing else here
		if err := value(key); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

func (p *boxParser) array(element func() error) error {
	if err := p.open('['); err != nil {
		return err
	}
	for p.d.More() {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

// skip reads a value of any depth without keeping it.
func (p *boxParser) skip() error {
	for depth := 0; ; {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// image reads a photo of either format. A value of the wrong type spoils only its record.
func (p *boxParser) image() error {
	var image struct {
		File       string          `json:"file"`
		Name       string          `json:"file_name"`
		ID         json.RawMessage `json:"id"`
		Width      float64         `json:"width"`
		Height     float64         `json:"height"`
		Failure    string          `json:"failure"`
		FrameRate  json.RawMessage `json:"frame_rate"`
		Detections *[]struct {
			Category   json.RawMessage `json:"category"`
			Confidence *float64        `json:"conf"`
			Rectangle  []*float64      `json:"bbox"`
			Frame      json.RawMessage `json:"frame_number"`
		} `json:"detections"`
	}
	err := p.decode(&image)
	var mistyped *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &mistyped) {
		return err
	}
	r := &boxRecord{file: image.File, width: image.Width, height: image.Height, video: image.FrameRate != nil}
	if r.file == "" {
		r.file = image.Name
		p.coco = p.coco || r.file != ""
	}
	switch {
	case mistyped != nil:
		r.err = fmt.Errorf("its record in the file of boxes: %w", err)
		r.file = cmp.Or(r.file, fmt.Sprintf("image %d", len(p.records)+1))
	case len(r.file) > maxPathBytes:
		r.file, r.err = shown(r.file), checkPath(r.file)
	case r.file == "":
		return fmt.Errorf("image %d has neither file, as MegaDetector's, nor file_name, as COCO's", len(p.records)+1)
	case image.Failure != "":
		r.err = fmt.Errorf("the detector could not read it: %s", image.Failure)
	case image.Detections == nil && image.File != "":
		r.err = errors.New("the detector says nothing about it")
	case image.Detections != nil:
		for _, d := range *image.Detections {
			if r.video = r.video || d.Frame != nil; r.video {
				break // boxes of many pictures
			}
			if err := p.add(r, d.Category, d.Rectangle, d.Confidence); err != nil {
				return err
			}
		}
	}
	p.records = append(p.records, p.identified(r, identifier(image.ID)))
	return nil
}

// identified gives a record of COCO the boxes that the file has for it, before or after.
func (p *boxParser) identified(r *boxRecord, id string) *boxRecord {
	r.listed = true
	if id == "" {
		return r
	}
	known := p.of(id)
	if known.listed {
		r.err = fmt.Errorf("the identifier %s is that of another photo, too", id)
		return r
	}
	r.boxes, r.err = append(r.boxes, known.boxes...), cmp.Or(r.err, known.err)
	p.byID[id] = r
	return r
}

// of returns the record of COCO's photo id, which may come later in the file.
func (p *boxParser) of(id string) *boxRecord {
	if p.byID[id] == nil {
		p.byID[id] = &boxRecord{}
	}
	return p.byID[id]
}

// annotation reads a box of COCO. Those of crowds are around many things.
func (p *boxParser) annotation() error {
	var a struct {
		Image     json.RawMessage `json:"image_id"`
		Category  json.RawMessage `json:"category_id"`
		Rectangle []*float64      `json:"bbox"`
		Score     *float64        `json:"score"`
		Crowd     json.RawMessage `json:"iscrowd"`
	}
	err := p.decode(&a)
	var mistyped *json.UnmarshalTypeError
	switch crowd := string(a.Crowd); {
	case errors.As(err, &mistyped):
		return p.keep(p.of(identifier(a.Image)), foundBox{err: fmt.Errorf("its annotation: %w", err)})
	case err != nil, crowd == "1", crowd == "true", len(a.Rectangle) == 0:
		return err
	}
	one := 1.0
	if a.Score == nil {
		a.Score = &one
	}
	return p.add(p.of(identifier(a.Image)), a.Category, a.Rectangle, a.Score)
}

func (p *boxParser) category() error {
	var c struct {
		ID   json.RawMessage `json:"id"`
		Name string          `json:"name"`
	}
	if err := p.decode(&c); err != nil {
		return err
	}
	return p.name(identifier(c.ID), c.Name)
}

// name names a category, which many boxes may be of.
func (p *boxParser) name(id, name string) error {
	p.categories[id] = spelled(name)
	return checkLength("category", name, maxNameBytes)
}

// add checks the form of a box and appends it to a record.
func (p *boxParser) add(r *boxRecord, category json.RawMessage, rectangle []*float64, confidence *float64) error {
	id := identifier(category)
	if known, ok := p.texts[id]; ok {
		id = known
	} else {
		p.texts[id] = id
	}
	b := foundBox{category: id, confidence: 1}
	switch {
	case len(rectangle) != 4:
		b.err = fmt.Errorf("its bbox has %d numbers, not 4", len(rectangle))
	case confidence == nil:
		b.err = errors.New("its confidence is missing or not a number")
	default:
		b.confidence = *confidence
	}
	for i, v := range rectangle[:min(4, len(rectangle))] {
		if v == nil {
			b.err = errors.New("its bbox has a value that is not a number")
			continue
		}
		b.rectangle[i] = *v
	}
	return p.keep(r, b)
}

// keep appends a box to a record.
func (p *boxParser) keep(r *boxRecord, b foundBox) error {
	if p.boxes++; p.boxes > mostBoxes {
		return fmt.Errorf("more than %d boxes: split the file", mostBoxes)
	}
	if len(r.boxes) == mostBoxesOfPhoto {
		r.boxes, r.err = nil, fmt.Errorf("it has more than %d boxes", mostBoxesOfPhoto)
	}
	if r.err == nil {
		r.boxes = append(r.boxes, b)
	}
	return nil
}
