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
	"github.com/seed-90d10d51/pipeline/internal/heif"
	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/internal/linalg/native"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
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
		{"JPEG decoder", x.checkJPEG},
		{"HEIC decoder", x.checkHEIC},
		{"libvips", checkLibrary(imagelib.Vips())},
		{"libheif", checkLibrary(imagelib.Heif())},
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
	file, err := backbone.Resolve(backbone.Default, backbone.Dirs{})
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
		return "the built-in one, which is weak; pipeline setup gets a far better one", nil
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

// checkJPEG reports the decoder of photos. libjpeg-turbo is optional: without it
// decoding is slower.
func (x examiner) checkJPEG(_ *check) (string, error) {
	d, err := turbojpeg.Find()
	switch {
	case x.config.Preprocess.JPEG == embed.JPEGGo:
		return "Go's, as set by preprocess.jpeg", nil
	case err == nil:
		return fmt.Sprintf("libjpeg-turbo %s (%s; pixels %s), with scaled decoding of large photos", d.Path(),
			turbojpeg.Source(d.Path()), d.ID()), nil
	case x.config.Preprocess.JPEG == embed.JPEGTurbo || os.Getenv(turbojpeg.EnvLibrary) != "":
		return "", err
	}
	return "Go's; libjpeg-turbo is several times faster on large photos: " + turbojpeg.Remedy(), nil
}

// checkHEIC reports the decoder of HEIC; AVIF is always decoded by what is built
// in. libde265 is optional, and only faster.
func (x examiner) checkHEIC(_ *check) (string, error) {
	l, err := heif.Find()
	switch {
	case err == nil:
		return fmt.Sprintf("libde265 %s (%s); AVIF: libavif, built in", l.Version(), l.Path()), nil
	case os.Getenv(heif.EnvLibrary) != "":
		return "", err
	}
	return "built in (WebAssembly), with the same pixels; libde265 is several times faster: " + heif.Remedy(), nil
}

// checkLibrary returns a check that reports a library that decodes photos. It is optional.
func checkLibrary(l imagelib.Library) func(*check) (string, error) {
	return func(*check) (string, error) {
		path, version, err := l.Find()
		switch {
		case err == nil:
			return fmt.Sprintf("%s %s (%s)", version, path, l.Source(path)), nil
		case os.Getenv(l.Env) != "" || path != "" && !errors.Is(err, imagelib.ErrTooOld):
			return "", err
		}
		return "not used: " + err.Error(), nil
	}
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
		if dirs.Pulled(e) {
			names = append(names, e.Name)
			a.say("✓ backbone %s: %s", e.Name, filepath.Base(dirs.CachePath(e)))
		}
	}
	return names, err
}
