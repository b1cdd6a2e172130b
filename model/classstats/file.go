package classstats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/seed-90d10d51/pipeline/classifier/kit/moments"
	"github.com/seed-90d10d51/pipeline/embedding"
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
	Dim         int                  `json:"dim"`
	Unit        bool                 `json:"unit"`
	Classes     []classEntry         `json:"classes"`
	Provenance  embedding.Provenance `json:"provenance"`
	ToolVersion string               `json:"tool_version"`
}

type classEntry struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// Save writes the statistics atomically. The content does not depend on the
// order in which samples were added, except for the last bits of the moments of
// classes with more than d samples. A file of another kind is never replaced.
func (s *Stats) Save(path string) error {
	return container.Save(path, "statistics", format, s.container)
}

func (s *Stats) container() (container.File, error) {
	if err := s.settle(); err != nil {
		return container.File{}, err
	}
	d := document{
		Dim: s.dim, Unit: s.Unit, Classes: []classEntry{}, Provenance: s.Provenance, ToolVersion: s.ToolVersion,
	}
	var content []Hash
	var stats []*moments.Moments
	for _, name := range s.Classes() {
		c, err := s.classes[name].ordered()
		if err != nil {
			return container.File{}, fmt.Errorf("class %q: %w", name, err)
		}
		d.Classes = append(d.Classes, classEntry{name, len(c.content)})
		stats = append(stats, c.stats)
		content = append(content, c.content...)
	}
	text, err := json.Marshal(d)
	if err != nil {
		return container.File{}, err
	}
	c := container.New(format, string(text))
	c.Tensors[contentTensor] = container.Hashes(content)
	c.Add(classPrefix, moments.Stack(stats))
	return c, nil
}

// Load reads a STATS file and checks all of it. The error wraps ErrNotStats, or
// one of the errors by which model.Load reports a bad file.
func Load(path string) (*Stats, error) { return container.Load(path, "statistics", decode) }

// decode reads a STATS file. It accepts any bytes and returns statistics or an
// error.
func decode(r io.ReaderAt, size int64) (*Stats, error) {
	var d document
	f, err := container.Described(r, size, format, "pipeline stats collect", &d)
	if err != nil {
		return nil, err
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
	hashes, err := container.ReadHashes(f, contentTensor)
	if err != nil {
		return err
	}
	for i, c := range classes {
		if stats[i].N() != c.N || c.N > len(hashes) {
			return fmt.Errorf("class %q: %d samples, statistics of %d, %d hashes",
				c.Name, c.N, stats[i].N(), len(hashes))
		}
		k := &counted{stats: stats[i], content: hashes[:c.N:c.N], known: make(map[Hash]bool, c.N)}
		for _, h := range k.content {
			k.known[h] = true
		}
		hashes = hashes[c.N:]
		if len(k.known) != c.N {
			return fmt.Errorf("class %q: a content hash appears twice", c.Name)
		}
		s.classes[c.Name] = k
	}
	if len(hashes) > 0 {
		return fmt.Errorf("%d content hashes belong to no class", len(hashes))
	}
	return nil
}
