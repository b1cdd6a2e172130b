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
	listed        bool    // in images, and not only in annotations
	crowds        int     // that are left out
	surest        float64 // confidence of any of the detections, also those that the file leaves out
	boxes         []foundBox
}

// A foundBox is a rectangle as the file has it: x, y, width and height, as shares, or as
// pixels in COCO.
type foundBox struct {
	rectangle  [4]float64
	category   string // identifier
	confidence float64
	whole      bool // of the photo, whatever its size
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
	d    *json.Decoder
	left *allowance
	// listed and annotated report that the file has these lists.
	listed, annotated bool
}

// file reads the one object of the file.
func (p *boxParser) file() error {
	err := p.object(func(key string) error {
		switch key {
		case "images":
			return p.array(&p.listed, p.image)
		case "annotations":
			p.coco = true
			return p.array(&p.annotated, p.annotation)
		case "categories":
			p.coco = true
			return p.array(new(bool), p.category)
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
	case p.coco && !p.annotated:
		return errors.New(`no list "annotations": the file says nothing about boxes`)
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
// the other, and tables make 1.0 of 1.
func identifier(raw json.RawMessage) string {
	text := string(raw)
	if whole, zeros, found := strings.Cut(text, "."); found && strings.Trim(zeros, "0") == "" {
		return whole
	}
	return strings.Trim(text, `"`)
}

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

// array reads a list. It sets there unless that is null.
func (p *boxParser) array(there *bool, element func() error) error {
	t, err := p.token()
	switch {
	case err != nil, t == nil:
		return err
	case t != json.Delim('['):
		return fmt.Errorf("%v where a list is expected: it is neither of MegaDetector's format nor of COCO's", t)
	}
	*there = true
	for p.d.More() {
		if err := element(); err != nil {
			return err
		}
	}
	_, err = p.token()
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
		Width      number          `json:"width"`
		Height     number          `json:"height"`
		Failure    json.RawMessage `json:"failure"`
		FrameRate  json.RawMessage `json:"frame_rate"`
		Surest     number          `json:"max_detection_conf"`
		Detections *[]struct {
			Category   json.RawMessage `json:"category"`
			Confidence number          `json:"conf"`
			Rectangle  rectangle       `json:"bbox"`
			Frame      json.RawMessage `json:"frame_number"`
		} `json:"detections"`
	}
	err := p.decode(&image)
	var mistyped *json.UnmarshalTypeError
	if err != nil && !errors.As(err, &mistyped) {
		return err
	}
	r := &boxRecord{file: image.File, width: image.Width.value, height: image.Height.value,
		video: image.FrameRate != nil, surest: image.Surest.value}
	if r.file == "" {
		r.file = image.Name
		p.coco = p.coco || r.file != ""
	}
	switch failure := strings.Trim(string(image.Failure), `"`); {
	case mistyped != nil:
		r.err = misplaced(mistyped)
		r.file = cmp.Or(r.file, fmt.Sprintf("image %d", len(p.records)+1))
	case len(r.file) > maxPathBytes:
		r.file, r.err = shown(r.file), checkPath(r.file)
	case r.file == "":
		return fmt.Errorf("image %d has neither file, as MegaDetector's, nor file_name, as COCO's", len(p.records)+1)
	case failure != "" && failure != "null":
		r.err = fmt.Errorf("the detector could not read it: %s", shown(failure))
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

// misplaced says that a value is of a kind that the formats do not have at its place.
func misplaced(err *json.UnmarshalTypeError) error {
	return fmt.Errorf("its record in the file of boxes has a JSON %s as %s", err.Value, err.Field)
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
	r.boxes, r.err, r.crowds = append(r.boxes, known.boxes...), cmp.Or(r.err, known.err), known.crowds
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
		Rectangle rectangle       `json:"bbox"`
		Outline   json.RawMessage `json:"segmentation"`
		Score     number          `json:"score"`
		Crowd     json.RawMessage `json:"iscrowd"`
	}
	err := p.decode(&a)
	r := p.of(identifier(a.Image))
	var mistyped *json.UnmarshalTypeError
	switch crowd := string(a.Crowd); {
	case errors.As(err, &mistyped):
		return p.keep(r, foundBox{err: misplaced(mistyped)})
	case err != nil:
		return err
	case crowd == "1", crowd == "true":
		r.crowds++
		return nil
	}
	if !a.Score.given {
		a.Score = number{value: 1, given: true}
	}
	if a.Rectangle.hasArea() {
		return p.add(r, a.Category, a.Rectangle, a.Score)
	}
	around, drawn := outlined(a.Outline)
	switch {
	case around.hasArea():
		a.Rectangle = around
	case len(a.Rectangle.of) == 0 && !a.Rectangle.odd && drawn:
		return p.keep(r, foundBox{err: errors.New("it is drawn as a mask, and has neither a box nor a polygon")})
	case len(a.Rectangle.of) == 0 && !a.Rectangle.odd:
		a.Rectangle.whole = true
	}
	return p.add(r, a.Category, a.Rectangle, a.Score)
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
func (p *boxParser) add(r *boxRecord, category json.RawMessage, at rectangle, confidence number) error {
	id := identifier(category)
	if known, ok := p.texts[id]; ok {
		id = known
	} else {
		p.texts[id] = id
	}
	b := foundBox{category: id, confidence: confidence.value, whole: at.whole}
	switch {
	case at.whole:
		b.rectangle = [4]float64{0, 0, 1, 1}
	case at.odd:
		b.err = errors.New("its bbox is not a list of four numbers")
	case len(at.of) != 4:
		b.err = fmt.Errorf("its bbox has %d numbers, not 4", len(at.of))
	case !confidence.given:
		b.err = errors.New("its confidence is missing or not a number")
	}
	for i, v := range at.of[:min(4, len(at.of))] {
		if !v.given {
			b.err = errors.New("its bbox has a value that is not a number")
		}
		b.rectangle[i] = v.value
	}
	return p.keep(r, b)
}

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
