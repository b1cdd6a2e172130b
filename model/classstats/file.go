package classstats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// ErrNotStats means that a file is not a STATS file.
var ErrNotStats = errors.New("not a statistics file")

var format = container.Format{Name: "pipeline-class-statistics", Version: 2, Foreign: ErrNotStats,
	Again: "collect the statistics again"}

const (
	// classPrefix begins the names of the moments' tensors, as in
	// "class.3.rows".
	classPrefix   = "class."
	contentTensor = "content"
)

// document is the JSON inside a STATS file; arrays are tensors.
type document struct {
	Dim         int              `json:"dim"`
	Unit        bool             `json:"unit"`
	Classes     []classEntry     `json:"classes"`
	Provenance  embed.Provenance `json:"provenance"`
	ToolVersion string           `json:"tool_version"`
}

type classEntry struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Save writes the statistics atomically. The content does not depend on the
// order in which samples were added, except for the last bits of the moments of
// classes with more than d samples. A file of another kind is never replaced.
func (s *Stats) Save(path string) error {
	if err := s.save(path); err != nil {
		return fmt.Errorf("save statistics %s: %w", path, err)
	}
	return nil
}

func (s *Stats) save(path string) error {
	if err := container.Replaceable(path, format); err != nil {
		return err
	}
	c, err := s.container()
	if err != nil {
		return err
	}
	return c.Write(path, nil)
}

func (s *Stats) container() (container.File, error) {
	if err := s.settle(); err != nil {
		return container.File{}, err
	}
	d := document{
		Dim: s.dim, Unit: s.Unit, Classes: []classEntry{}, Provenance: s.Provenance, ToolVersion: s.ToolVersion,
	}
	content := []byte{}
	var stats []*moments.Moments
	for _, name := range s.Classes() {
		c, err := s.classes[name].ordered()
		if err != nil {
			return container.File{}, fmt.Errorf("class %q: %w", name, err)
		}
		d.Classes = append(d.Classes, classEntry{name, len(c.content)})
		stats = append(stats, c.stats)
		for _, h := range c.content {
			content = append(content, h[:]...)
		}
	}
	text, err := json.Marshal(d)
	if err != nil {
		return container.File{}, err
	}
	c := container.New(format, string(text))
	c.Tensors[contentTensor] = safetensors.Tensor{Shape: []int{len(content) / len(Hash{}), len(Hash{})}, U8: content}
	c.Add(classPrefix, moments.Stack(stats))
	return c, nil
}

// Load reads a STATS file and checks all of it. The error wraps ErrNotStats, or
// one of the errors by which model.Load reports a bad file.
func Load(path string) (*Stats, error) { return container.Load(path, "statistics", decode) }

// decode reads a STATS file. It accepts any bytes and returns statistics or an
// error.
func decode(r io.ReaderAt, size int64) (*Stats, error) {
	f, _, err := container.Open(r, size, format)
	if errors.Is(err, ErrNotStats) {
		return nil, fmt.Errorf("%w: make one with pipeline stats collect", err)
	}
	if err != nil {
		return nil, err
	}
	var d document
	if err := json.Unmarshal([]byte(f.Metadata()[container.DocumentKey]), &d); err != nil {
		return nil, fmt.Errorf("its description: %w", err)
	}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("its description: %w", err)
	}
	s := New(d.Dim, d.Unit)
	s.Provenance, s.ToolVersion = d.Provenance, d.ToolVersion
	return s, s.readClasses(f, d.Classes)
}

func (d document) check() error {
	if d.Dim < 1 {
		return fmt.Errorf("the dimension is %d", d.Dim)
	}
	for i, c := range d.Classes {
		if c.Name == "" || !utf8.ValidString(c.Name) || i > 0 && d.Classes[i-1].Name >= c.Name {
			return fmt.Errorf("class %q is empty, not UTF-8, or out of order", c.Name)
		}
		if c.N < 1 {
			return fmt.Errorf("class %q has %d samples", c.Name, c.N)
		}
	}
	return d.Provenance.Validate()
}

func (s *Stats) readClasses(f *safetensors.File, classes []classEntry) error {
	tensors, err := container.Read(f, classPrefix)
	if err != nil {
		return err
	}
	stats, err := moments.Unstack(s.dim, len(classes), tensors)
	if err != nil {
		return err
	}
	content, err := f.Read(contentTensor)
	if err != nil {
		return err
	}
	if len(content.Shape) != 2 || content.Shape[1] != len(Hash{}) || content.U8 == nil {
		return fmt.Errorf("content hashes of shape %v", content.Shape)
	}
	hashes := content.U8
	for i, c := range classes {
		if stats[i].N() != c.N || c.N > len(hashes)/len(Hash{}) {
			return fmt.Errorf("class %q: %d samples, statistics of %d, %d hashes", c.Name, c.N, stats[i].N(),
				len(hashes)/len(Hash{}))
		}
		k := &counted{stats: stats[i], content: make([]Hash, c.N), known: make(map[Hash]bool, c.N)}
		for j := range k.content {
			hashes = hashes[copy(k.content[j][:], hashes):]
			k.known[k.content[j]] = true
		}
		if len(k.known) != c.N {
			return fmt.Errorf("class %q: a content hash appears twice", c.Name)
		}
		s.classes[c.Name] = k
	}
	if len(hashes) > 0 {
		return fmt.Errorf("%d content hashes belong to no class", len(hashes)/len(Hash{}))
	}
	return nil
}
