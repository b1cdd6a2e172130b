package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/cpu"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/config"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/linalg/native"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

var errNotReady = errors.New("images cannot be labelled on this machine; the lines marked ✗ say what to do")

func newDoctor() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "Check what works on this machine and how to fix what does not",
		Example: "  pipeline doctor",
		Args:    arguments,
		RunE:    command(func(_ context.Context, a *app, _ []string) error { return a.doctor() }),
	}
	jsonFlag(cmd.Flags(), "write the result as JSON")
	return cmd
}

// A diagnosis is what doctor --json prints.
type diagnosis struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Cores    int    `json:"cores"`
	Vectors  string `json:"vector_units,omitempty"`
	// Ready says that images can be labelled.
	Ready     bool     `json:"ready"`
	Checks    []check  `json:"checks"`
	Backbones []string `json:"backbones"` // those that were pulled
}

// A check is one thing that works, or why it does not.
type check struct {
	Name  string   `json:"name"`
	Works bool     `json:"works"`
	Text  string   `json:"text"`
	Notes []string `json:"notes,omitempty"`
}

func (c *check) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

func (a *app) doctor() error {
	d := diagnosis{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Cores: runtime.NumCPU(), Vectors: vectorUnits(), Ready: true}
	a.say("pipeline %s", strings.TrimSuffix(fmt.Sprintf("%s, %s, %s, %d cores, %s", d.Version, d.Go, d.Platform,
		d.Cores, d.Vectors), ", "))
	x := examiner{
		config: a.config, options: a.Options(context.Background()),
		products: func() (native.Choice, error) { return a.Products(context.Background()) },
	}
	for _, each := range []struct {
		name string
		run  func(*check) (string, error)
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
		c, mark := check{Name: each.name, Works: true}, "✓"
		var err error
		if c.Text, err = each.run(&c); err != nil {
			c.Works, c.Text, mark = false, err.Error(), "✗"
			d.Ready = false
		}
		for _, note := range c.Notes {
			a.say("  %s", note)
		}
		a.say("%s %s: %s", mark, c.Name, c.Text)
		d.Checks = append(d.Checks, c)
	}
	var err error
	if d.Backbones, err = a.pulled(); err == nil && a.json != "" {
		err = a.writeJSON(d)
	}
	if !d.Ready {
		err = errors.Join(err, errNotReady)
	}
	return err
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
	config   config.Config
	options  embed.Options
	products func() (native.Choice, error)
}

func (x examiner) checkRuntime(c *check) (string, error) {
	library, attempts, err := ort.Locate(x.config.Runtime.Library)
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

func (x examiner) checkBackbone(_ *check) (string, error) {
	runtime, err := x.options.Runtime()
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
func (x examiner) checkNetwork(_ *check) (string, error) {
	dirs, err := x.options.BackboneDirs()
	if err != nil {
		return "", err
	}
	file, err := backbone.Resolve(x.config.Backbone, dirs)
	switch {
	case err != nil:
		return "", err
	case file.Source == backbone.BuiltIn:
		return file.Name + ", built in", nil
	}
	return fmt.Sprintf("%s (%s)", file.Name, file.Path), nil
}

func (x examiner) checkCache(_ *check) (string, error) {
	dir, err := x.options.CacheDir()
	if err != nil {
		return "", err
	}
	if err = os.MkdirAll(dir, 0o755); err == nil {
		err = pipeline.Writable(filepath.Join(dir, "doctor"))
	}
	if err != nil {
		return "", fmt.Errorf("%w; choose another with --cache", err)
	}
	return dir, nil
}

// checkProducts reports the backend of matrix products, and why a faster one is
// not used.
func (x examiner) checkProducts(c *check) (string, error) {
	products, err := x.products()
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
func (x examiner) checkPhotos(c *check) (string, error) {
	d, err := x.decoders(c)
	if err != nil || x.config.Preprocess.Decoders == embed.DecodersGo {
		return "Go's, as set by preprocess.jpeg; no AVIF", err
	}
	if path, version := d.Libvips(); path != "" {
		return fmt.Sprintf("libvips %s, %s (%s), with scaled decoding of large photos", version, path,
			imagelib.Vips().Source(path)), nil
	}
	return "Go's; libvips is several times faster and reads AVIF: " + imagelib.Vips().Remedy(), nil
}

// checkHEIC reports what decodes HEIC.
func (x examiner) checkHEIC(c *check) (string, error) {
	d, err := x.decoders(c)
	if err != nil || x.config.Preprocess.Decoders == embed.DecodersGo {
		return "none, as set by preprocess.jpeg", err
	}
	if path, version := d.Libheif(); path != "" {
		return fmt.Sprintf("libheif %s, %s (%s)", version, path, imagelib.Heif().Source(path)), nil
	}
	return "none; libheif reads it: " + imagelib.Heif().Remedy(), nil
}

// decoders returns the libraries, and notes why one that is there is not used; that is an error for one that is named
// or required.
func (x examiner) decoders(c *check) (*preprocess.Decoders, error) {
	if x.config.Preprocess.Decoders == embed.DecodersGo {
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
func (x examiner) checkMemory(_ *check) (string, error) {
	budget, err := x.config.Preprocess.Budget()
	if err != nil {
		return "", fmt.Errorf("preprocess.%w", err)
	}
	return fmt.Sprintf("%d MiB at most (preprocess.memory: %s)", budget.Bytes()>>20, x.config.Preprocess.Memory), nil
}

// pulled prints and returns the backbones of the catalogue that are on this machine.
func (a *app) pulled() ([]string, error) {
	names := []string{}
	dirs, err := a.Options(context.Background()).BackboneDirs()
	if err != nil {
		return nil, err
	}
	entries, err := backbone.Catalogue()
	for _, e := range entries {
		if dirs.Pulled(e) && e.Name != backbone.OfNewModels {
			names = append(names, e.Name)
			a.say("✓ backbone %s: %s", e.Name, filepath.Base(dirs.CachePath(e)))
		}
	}
	return names, err
}
