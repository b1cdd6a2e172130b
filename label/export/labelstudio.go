package export

import (
	"bytes"
	"encoding/xml"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/label"
)

const (
	studioName  = "label-studio"
	studioTasks = "tasks.json"
	studioXML   = "config.xml"
)

// A studio writes tasks. What people decided is an annotation, what the model says a
// prediction, and a photo that was set aside a cancelled annotation, which is how Label
// Studio keeps a task that was skipped.
type studio struct {
	*folder
	model   string
	file    *file
	tasks   array
	classes *classes
	several bool // a photo shows several things
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

// A choice is a class, or a box with one.
type choice struct {
	From  string         `json:"from_name"`
	To    string         `json:"to_name"`
	Type  string         `json:"type"`
	Value map[string]any `json:"value"`
}

func newStudio(o Options) (label.Sink, error) {
	f, err := newFolder(o.Dir, studioName, []string{studioTasks, studioXML})
	if err != nil {
		return nil, err
	}
	s := &studio{folder: f, model: o.Model, classes: newClasses(o.Classes)}
	if s.file, err = f.create(studioTasks); err != nil {
		f.Abort()
		return nil, err
	}
	s.tasks.w = s.file
	_, err = s.file.WriteString("[")
	return s, err
}

func choose(classes ...string) []choice {
	return []choice{{"label", "image", "choices", map[string]any{"choices": classes}}}
}

// localFile is the address of a photo below the folder that Label Studio serves
// (LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT).
func localFile(path string) string {
	return "/data/local-files/?d=" + strings.ReplaceAll(url.QueryEscape(path), "%2F", "/")
}

// Put implements label.Sink.
func (s *studio) Put(row label.Scored) error {
	if row.Sample.Box != nil {
		return errBoxes
	}
	t := task{
		ID: s.tasks.n + 1,
		Data: studioData{Image: localFile(row.Sample.File()), By: row.By, Rejected: row.Rejected,
			New: optional(row.New), Split: row.Split},
		Annotations: []annotation{}, Predictions: []prediction{},
	}
	switch names := row.Names(); {
	case row.By == "" || row.By == label.Later:
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
			prediction{Model: s.model, Score: float(best[0].Probability), Result: choose(best[0].Label)})
	}
	return s.tasks.add(t)
}

// Commit implements label.Sink.
func (s *studio) Commit(o embed.Outcome) error {
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
	choice := "single"
	if s.several {
		choice = "multiple"
	}
	b.WriteString("<View>\n  <Image name=\"image\" value=\"$image\"/>\n" +
		"  <Choices name=\"label\" toName=\"image\" choice=\"" + choice + "\">\n")
	for _, class := range s.classes.names {
		b.WriteString("    <Choice value=\"")
		_ = xml.EscapeText(&b, []byte(class)) // into memory
		b.WriteString("\"/>\n")
	}
	b.WriteString("  </Choices>\n</View>\n")
	return b.Bytes()
}
