package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/setting"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// A Diagnosis says what works on a machine.
type Diagnosis struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Cores    int    `json:"cores"`
	Vectors  string `json:"vector_units,omitempty"`
	// Ready says that images can be labelled.
	Ready     bool     `json:"ready"`
	Checks    []Check  `json:"checks"`
	Backbones []string `json:"backbones"` // those that were pulled
}

// A Check is one thing that works, or why it does not.
type Check struct {
	Name  string   `json:"name"`
	Works bool     `json:"works"`
	Text  string   `json:"text"`
	Notes []string `json:"notes,omitempty"`
}

func (c *Check) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// Diagnose tries what labelling needs of this machine. It says the result of each check when it has it: a native
// library that does not fit may end the process.
func (s *Studio) Diagnose(ctx context.Context) (*Diagnosis, error) {
	d := &Diagnosis{Version: s.version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Cores: runtime.NumCPU(), Vectors: vectorUnits(), Ready: true, Backbones: []string{}}
	s.say("pipeline %s", strings.TrimSuffix(fmt.Sprintf("%s, %s, %s, %d cores, %s", d.Version, d.Go, d.Platform,
		d.Cores, d.Vectors), ", "))
	x := examiner{s.begin(ctx), setting.OrDefault(s.settings.Preprocess, embedding.DefaultPreprocess())}
	for _, each := range []struct {
		name string
		run  func(*Check) (string, error)
	}{
		{"ONNX Runtime", x.checkRuntime},
		{"built-in backbone", x.checkBackbone},
		{"network of new models", x.checkNetwork},
		{"cache folder", x.checkCache},
		{"matrix products", x.checkProducts},
		{"photo decoder", x.checkPhotos},
		{"HEIC decoder", x.checkHEIC},
		{"memory for images", x.checkMemory},
	} {
		c, mark := Check{Name: each.name, Works: true}, "✓"
		var err error
		if c.Text, err = each.run(&c); err != nil {
			c.Works, c.Text, mark = false, err.Error(), "✗"
			d.Ready = false
		}
		for _, note := range c.Notes {
			s.say("  %s", note)
		}
		s.say("%s %s: %s", mark, c.Name, c.Text)
		d.Checks = append(d.Checks, c)
	}
	networks, err := s.Networks()
	for _, n := range networks {
		if n.File != "" {
			d.Backbones = append(d.Backbones, n.Name)
			s.say("✓ backbone %s: %s", n.Name, filepath.Base(n.File))
		}
	}
	return d, err
}

func vectorUnits() string {
	switch {
	case cpu.X86.HasAVX512F:
		return "AVX-512"
	case cpu.X86.HasAVX2:
		return "AVX2"
	}
	return ""
}

// An examiner looks at what the program needs of a machine.
type examiner struct {
	*run
	pixels embedding.Preprocess
}

func (x examiner) checkRuntime(c *Check) (string, error) {
	library, attempts, err := ort.Locate(x.settings.Library)
	for _, attempt := range attempts {
		if err == nil && errors.Is(attempt.Err, fs.ErrNotExist) {
			continue // one was found elsewhere
		}
		c.note("looked at %s (%s): %v", attempt.Path, attempt.Source, attempt.Err)
	}
	if err != nil {
		return "", err
	}
	rt, err := ort.Open(library)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s (%s)", rt.Version(), library.Path, library.Source), nil
}

func (x examiner) checkBackbone(_ *Check) (string, error) {
	runtime, err := x.embed.Runtime()
	if err != nil {
		return "", errors.New("not tried: it needs ONNX Runtime")
	}
	file, err := backbone.Resolve("", backbone.Dirs{})
	if err != nil {
		return "", err
	}
	e, err := extractor.Open(runtime, file.Bytes(), file.Name, extractor.DefaultConfig())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d dimensions from %d px", e.Dim(), e.Side()), e.Close()
}

// checkNetwork reports the network that new models use.
func (x examiner) checkNetwork(_ *Check) (string, error) {
	dirs, err := x.embed.BackboneDirs()
	if err != nil {
		return "", err
	}
	file, err := backbone.Resolve(x.settings.Network, dirs)
	switch {
	case err != nil:
		return "", err
	case file.Source == backbone.BuiltIn:
		return file.Name + ", built in", nil
	}
	return fmt.Sprintf("%s (%s)", file.Name, file.Path), nil
}

func (x examiner) checkCache(_ *Check) (string, error) {
	dir, err := x.embed.CacheDir()
	if err != nil {
		return "", err
	}
	if err = os.MkdirAll(dir, 0o755); err == nil {
		err = Writable(filepath.Join(dir, "doctor"))
	}
	if err != nil {
		return "", fmt.Errorf("%w; choose another folder for the cache", err)
	}
	return dir, nil
}

// checkProducts reports the backend of matrix products, and why a faster one is
// not used.
func (x examiner) checkProducts(c *Check) (string, error) {
	products, err := x.Products(x.embed.Until)
	if err != nil {
		return "", err
	}
	if products.Rejected != nil {
		for line := range strings.SplitSeq(products.Rejected.Error(), "\n") {
			c.note("not used: %s", line)
		}
	}
	return products.String(), nil
}

// checkPhotos reports what decodes all photos but HEIC. Libraries are optional: without them decoding is slower.
func (x examiner) checkPhotos(c *Check) (string, error) {
	d, err := x.decoders(c)
	if err != nil || x.pixels.Decoders == embedding.DecodersGo {
		return "Go's, as set by preprocess.jpeg; no AVIF", err
	}
	if path, version := d.Libvips(); path != "" {
		return fmt.Sprintf("libvips %s, %s (%s), with scaled decoding of large photos", version, path,
			imagelib.Vips().Source(path)), nil
	}
	return "Go's; libvips is several times faster and reads AVIF: " + imagelib.Vips().Remedy(), nil
}

// checkHEIC reports what decodes HEIC.
func (x examiner) checkHEIC(c *Check) (string, error) {
	d, err := x.decoders(c)
	if err != nil || x.pixels.Decoders == embedding.DecodersGo {
		return "none, as set by preprocess.jpeg", err
	}
	if path, version := d.Libheif(); path != "" {
		return fmt.Sprintf("libheif %s, %s (%s)", version, path, imagelib.Heif().Source(path)), nil
	}
	return "none; libheif reads it: " + imagelib.Heif().Remedy(), nil
}

// decoders returns the libraries, and notes why one that is there is not used; that is an error for one that is named
// or required.
func (x examiner) decoders(c *Check) (*preprocess.Decoders, error) {
	if x.pixels.Decoders == embedding.DecodersGo {
		return &preprocess.Decoders{}, nil
	}
	d, err := preprocess.FindDecoders()
	switch {
	case err == nil:
		return d, nil
	case os.Getenv(imagelib.Vips().Env) != "",
		os.Getenv(imagelib.Heif().Env) != "":
		return d, err
	}
	c.note("not used: %v", err)
	return d, nil
}

// checkMemory reports the budget for decoding images.
func (x examiner) checkMemory(_ *Check) (string, error) {
	budget, err := x.pixels.Budget()
	if err != nil {
		return "", fmt.Errorf("preprocess.%w", err)
	}
	return fmt.Sprintf("%d MiB at most (preprocess.memory: %s)", budget.Bytes()>>20, x.pixels.Memory), nil
}
