package preprocess

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/imagelib"
	"github.com/seed-90d10d51/pipeline/preprocess/internal/heif"
	"github.com/seed-90d10d51/pipeline/preprocess/internal/vips"
)

// Decoders are the libraries that decode pictures: libvips and, for HEIC, libheif. What is
// missing is decoded by Go's packages, where they can. They are safe for concurrent use.
type Decoders struct {
	vips *vips.Library
	heif *heif.Library
}

// FindDecoders loads the libraries of this machine. The error says why one that is there, or
// is named by its environment variable, is not used; the Decoders do without it.
func FindDecoders() (*Decoders, error) {
	d := &Decoders{}
	find := func(l imagelib.Library, open func(path, version string) error) error {
		path, version, err := l.Find()
		switch {
		case err == nil:
			return open(path, version)
		case path == "" && os.Getenv(l.Env) == "": // there is none
			return nil
		}
		return err
	}
	return d, errors.Join(
		find(imagelib.Vips(), func(path, version string) (err error) {
			d.vips, err = vips.Open(path, version)
			return err
		}),
		find(imagelib.Heif(), func(path, version string) (err error) {
			d.heif, err = heif.Open(path, version)
			return err
		}))
}

// Libvips returns the path and the version of libvips, "" if it is not used.
func (d *Decoders) Libvips() (path, version string) {
	if d.vips == nil {
		return "", ""
	}
	return d.vips.Path(), d.vips.Version()
}

// Libheif returns the path and the version of libheif, "" if it is not used.
func (d *Decoders) Libheif() (path, version string) {
	if d.heif == nil {
		return "", ""
	}
	return d.heif.Path(), d.heif.Version()
}

// librariesPrefix starts Spec.Decoder if libraries decode; a hash of their versions follows.
// Releases before 0.3 wrote turboPrefix if libjpeg-turbo decoded JPEG.
const librariesPrefix, turboPrefix = "libraries:", "turbo:"

// Name returns the Spec.Decoder of what the Decoders decode: two of the same name give the same pixels.
// It is "" for Go's packages.
func (d *Decoders) Name() string {
	if d.vips == nil && d.heif == nil {
		return ""
	}
	_, picture := d.Libvips()
	_, photo := d.Libheif()
	sum := sha256.Sum256(fmt.Appendf(nil, "libvips %s\nlibheif %s\n", picture, photo))
	return librariesPrefix + hex.EncodeToString(sum[:4])
}

// ErrNoDecoder means that a spec names decoders that are not at hand.
var ErrNoDecoder = errors.New("the decoders are not available")

// DecodedBy names what decodes for messages.
func (s Spec) DecodedBy() string {
	if id, ok := strings.CutPrefix(s.Decoder, turboPrefix); ok {
		return "libjpeg-turbo (" + id + ")"
	}
	if id, ok := strings.CutPrefix(s.Decoder, librariesPrefix); ok {
		return "libvips and libheif (" + id + ")"
	}
	return "Go's"
}

func (s Spec) checkDecoder() error {
	_, id, _ := strings.Cut(s.Decoder, ":")
	_, err := hex.DecodeString(id)
	known := strings.HasPrefix(s.Decoder, librariesPrefix) || strings.HasPrefix(s.Decoder, turboPrefix)
	if s.Decoder != "" && (!known || len(id) != 8 || err != nil) {
		return fieldError("jpeg", fmt.Sprintf("%q", s.Decoder),
			`"" (Go's decoders) or "libraries:" and 8 hex digits`)
	}
	return nil
}
