package export

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/label"
)

const (
	studioName  = "label-studio"
	studioTasks = "tasks.json"
	studioXML   = "config.xml"
)

// A studio writes tasks. What people decided is an annotation, what the model says a
// prediction, and a photo that was set aside a cancelled annotation, which is how Label
// Studio keeps a task that was skipped. Boxes are rectangles of their photo's task.
type studio struct {
	*folder
	o       Options
	file    *file
	tasks   array
	classes *classes
	several bool // a photo shows several things
	boxed   bool
	open    *boxedTask // of the last box: the boxes of a photo follow each other
}

// A boxedTask is a photo of which some boxes have come.
type boxedTask struct {
	task
	photo         string
	width, height int
	aside         int // boxes that were set aside
	decided, said []choice
}

// A task is one photo.
type task struct {
	ID          int          `json:"id"` // from 1
	Data        studioData   `json:"data"`
	Annotations []annotation `json:"annotations"`
	Predictions []prediction `json:"predictions"`
}

// studioData is what Label Studio shows of a task.
type studioData struct {
	Image    string   `json:"image"`
	By       label.By `json:"by"`
	Rejected bool     `json:"rejected"`
	New      *float   `json:"p_new,omitempty"`
	Split    string   `json:"split,omitempty"`
}

type annotation struct {
	Result    []choice `json:"result"`
	Cancelled bool     `json:"was_cancelled"`
}

type prediction struct {
	Model  string   `json:"model_version"`
	Score  float    `json:"score"`
	Result []choice `json:"result"`
}

// A choice is a class, or a box with one: then it has an ID and the size of the upright photo
// in pixels, and the rectangle in Value is in per cent of it.
type choice struct {
	ID     string         `json:"id,omitempty"`
	From   string         `json:"from_name"`
	To     string         `json:"to_name"`
	Type   string         `json:"type"`
	Width  int            `json:"original_width,omitempty"`
	Height int            `json:"original_height,omitempty"`
	Score  *float         `json:"score,omitempty"`
	Value  map[string]any `json:"value"`
}

func newStudio(o Options) (label.Sink, error) {
	f, err := newFolder(o.Dir, studioName, []string{studioTasks, studioXML})
	if err != nil {
		return nil, err
	}
	s := &studio{folder: f, o: o, classes: newClasses(o.Classes)}
	if s.file, err = f.create(studioTasks); err != nil {
		f.Abort()
		return nil, err
	}
	s.tasks.w = s.file
	_, err = s.file.WriteString("[")
	return s, err
}

func choose(classes ...string) []choice {
	return []choice{{From: "label", To: "image", Type: "choices", Value: map[string]any{"choices": classes}}}
}

// localFile is the address of a photo below the folder that Label Studio serves
// (LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT).
func localFile(path string) string {
	return "/data/local-files/?d=" + strings.ReplaceAll(url.QueryEscape(path), "%2F", "/")
}

// Put implements label.Sink.
func (s *studio) Put(row label.Scored) error {
	if row.Sample.Box != nil {
		return s.box(row)
	}
	t := s.task(row.Sample.File(), row.Split)
	t.Data.By, t.Data.Rejected, t.Data.New = row.By, row.Rejected, optional(row.New)
	switch names := row.Names(); {
	case byMachine(row):
	case len(names) == 0:
		t.Annotations = append(t.Annotations, annotation{Result: []choice{}, Cancelled: true})
	default:
		for _, name := range names {
			s.classes.of(name)
		}
		s.several = s.several || len(names) > 1
		t.Annotations = append(t.Annotations, annotation{Result: choose(names...)})
	}
	if best := row.Prediction.TopK; !row.Rejected && len(best) > 0 {
		t.Predictions = append(t.Predictions,
			prediction{Model: s.o.Model, Score: float(best[0].Probability), Result: choose(best[0].Label)})
	}
	return s.tasks.add(t)
}

func (s *studio) task(photo, split string) task {
	return task{ID: s.tasks.n + 1, Data: studioData{Image: localFile(photo), Split: split},
		Annotations: []annotation{}, Predictions: []prediction{}}
}

// box adds a box to the task of its photo.
func (s *studio) box(row label.Scored) error {
	name := row.Sample.File()
	if s.open == nil || s.open.photo != name {
		if err := s.finish(); err != nil {
			return err
		}
		t := &boxedTask{photo: name}
		var err error
		if t.width, t.height, err = s.o.Size(dataset.FullPath(s.o.Root, name)); err != nil {
			return &label.ItemError{Err: err}
		}
		t.task, s.open, s.boxed = s.task(name, row.Split), t, true
	}
	t, names := s.open, row.Names()
	person := !byMachine(row)
	switch {
	case person && len(names) == 0:
		t.aside++
	case person:
		t.decided = append(t.decided, t.rectangle(row.Sample.Box, names...))
	}
	for _, name := range names {
		s.classes.of(name)
	}
	if best := row.Prediction.TopK; !row.Rejected && len(best) > 0 {
		c := t.rectangle(row.Sample.Box, best[0].Label)
		c.Score = new(float(best[0].Probability))
		t.said = append(t.said, c)
	}
	return nil
}

// rectangle is a box of some classes.
func (t *boxedTask) rectangle(b *dataset.Box, names ...string) choice {
	return choice{ID: fmt.Sprint(dataset.BoxID, b.Number), From: "label", To: "image", Type: "rectanglelabels",
		Width: t.width, Height: t.height, Value: map[string]any{"x": 100 * b.X, "y": 100 * b.Y, "width": 100 * b.W,
			"height": 100 * b.H, "rotation": 0, "rectanglelabels": names}}
}

// finish writes the task of the last boxes.
func (s *studio) finish() error {
	t := s.open
	if s.open = nil; t == nil {
		return nil
	}
	switch {
	case len(t.decided) > 0:
		t.Annotations = append(t.Annotations, annotation{Result: t.decided})
	case t.aside > 0:
		t.Annotations = append(t.Annotations, annotation{Result: []choice{}, Cancelled: true})
	}
	if len(t.said) > 0 {
		least := *t.said[0].Score
		for _, c := range t.said {
			least = min(least, *c.Score)
		}
		t.Predictions = append(t.Predictions, prediction{Model: s.o.Model, Score: least, Result: t.said})
	}
	return s.tasks.add(t.task)
}

// Commit implements label.Sink. Photos without boxes are tasks, too: a detector may have missed
// something.
func (s *studio) Commit(o embedding.Outcome) error {
	if err := s.finish(); err != nil {
		return err
	}
	for _, photo := range s.o.Empty {
		s.boxed = true
		if err := s.tasks.add(s.task(photo.Path, "")); err != nil {
			return err
		}
	}
	if _, err := s.file.WriteString("\n]\n"); err != nil {
		return err
	}
	if err := s.file.close(); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(s.dir.Path(), studioXML), s.config()); err != nil {
		return err
	}
	return s.folder.Commit(o)
}

// config is the labelling interface of a project with these tasks.
func (s *studio) config() []byte {
	var b bytes.Buffer
	control, more, class := "Choices", ` choice="single"`, "Choice"
	switch {
	case s.boxed:
		control, more, class = "RectangleLabels", "", "Label"
	case s.several:
		more = ` choice="multiple"`
	}
	fmt.Fprintf(&b, "<View>\n  <Image name=\"image\" value=\"$image\"/>\n  <%s name=\"label\" toName=\"image\"%s>\n",
		control, more)
	for _, name := range s.classes.names {
		fmt.Fprintf(&b, "    <%s value=\"", class)
		_ = xml.EscapeText(&b, []byte(name)) // into memory
		b.WriteString("\"/>\n")
	}
	fmt.Fprintf(&b, "  </%s>\n</View>\n", control)
	return b.Bytes()
}
