package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sys/cpu"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/extractor"
	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/ort"
	"github.com/seed-90d10d51/pipeline/internal/turbojpeg"
)

var errUnwell = errors.New("the main job cannot run here; what is marked with ✗ says what to do")

func newDoctor() *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Check what works on this machine, and what to do where it does not",
		Example: "  pipeline doctor",
		Args:    arguments(cobra.NoArgs),
		RunE:    command(func(_ context.Context, w *app, _ []string) error { return w.doctor() }),
	}
}

func (w *app) doctor() error {
	w.say("pipeline %s, %s, %s/%s, %d cores%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), vectorUnits())
	well := true
	for _, check := range []struct {
		name string
		run  func() (string, error)
	}{
		{"ONNX Runtime", w.checkRuntime},
		{"built-in backbone", w.checkBackbone},
		{"cache folder", w.checkCache},
		{"matrix products", w.checkProducts},
		{"JPEG decoder", w.checkJPEG},
	} {
		text, err := check.run()
		if err != nil {
			well = false
			w.say("✗ %s: %v", check.name, err)
			continue
		}
		w.say("✓ %s: %s", check.name, text)
	}
	if !well {
		return errUnwell
	}
	return w.sayPulled()
}

func vectorUnits() string {
	switch {
	case cpu.X86.HasAVX512F:
		return ", AVX-512"
	case cpu.X86.HasAVX2:
		return ", AVX2"
	}
	return ""
}

func (w *app) checkRuntime() (string, error) {
	library, attempts, err := ort.Locate(w.config.Runtime.Library)
	for _, a := range attempts {
		w.say("  looked at %s (%s): %v", a.Path, a.Source, a.Err)
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

func (w *app) checkBackbone() (string, error) {
	runtime, err := w.options().Runtime()
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

func (w *app) checkCache() (string, error) {
	dir, err := w.options().CacheDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("%w; choose another with --cache", err)
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return "", fmt.Errorf("%w; choose another with --cache", err)
	}
	err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	return dir, err
}

// checkProducts says what multiplies, and what would be faster.
func (w *app) checkProducts() (string, error) {
	products, err := w.products()
	if err != nil {
		return "", err
	}
	if products.Rejected != nil {
		w.say("  not used: %v", products.Rejected)
	}
	return products.String(), nil
}

// checkJPEG says what decodes photos. Without the library all works, slower.
func (w *app) checkJPEG() (string, error) {
	d, err := turbojpeg.Find()
	switch {
	case w.config.Preprocess.JPEG == embed.JPEGGo:
		return "Go's, as preprocess.jpeg says", nil
	case err == nil:
		return fmt.Sprintf("libjpeg-turbo %s (pixels %s), scaled decoding of large photos", d.Path(), d.ID()), nil
	case w.config.Preprocess.JPEG == embed.JPEGTurbo || os.Getenv(turbojpeg.EnvLibrary) != "":
		return "", err
	}
	return "Go's; for large photos libjpeg-turbo is several times as fast: " + turbojpeg.Remedy, nil
}

func (w *app) sayPulled() error {
	dirs, err := w.options().BackboneDirs()
	if err != nil {
		return err
	}
	entries, err := backbone.Catalogue()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if dirs.Pulled(e) {
			w.say("✓ backbone %s: %s", e.Name, filepath.Base(dirs.CachePath(e)))
		}
	}
	return nil
}
