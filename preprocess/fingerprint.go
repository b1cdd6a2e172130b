package preprocess

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// Versions of the steps that change pixels. Increment one whenever its output
// changes for any file, so that cached features of old pixels are not mixed
// with new ones.
const (
	// fingerprintVersion is the version of the canonical text itself.
	fingerprintVersion = 1
	// decoderVersion covers format decisions, alpha, palettes and 16 bits. A format
	// that was refused before does not change it: no features of it are stored.
	decoderVersion = 1
	// chromaVersion covers chroma upsampling and YCbCr → RGB where Go's packages decode.
	chromaVersion = 2
	// resizerVersion covers the resize and the rounding of sizes and crops.
	resizerVersion = 1
	// squaresVersion covers where Squeeze, Pad and Views put their squares.
	squaresVersion = 1
	// scaledVersion covers when, and by how much, photos are decoded at reduced
	// size.
	scaledVersion = 2
	// heifThumbnailVersion covers which stored thumbnail is taken.
	heifThumbnailVersion = 1
	// metadataVersion covers what is read besides the pixels: orientation, significant
	// bits, colour profiles. It is not part of the geometry, because photos of earlier
	// versions, most of which have none of that, may be mixed with those of this one.
	metadataVersion = 3
	// xImageVersion is the golang.org/x/image that go.mod pins (BMP, TIFF,
	// WebP); a test compares the two.
	xImageVersion = "v0.47.0"
)

// Fingerprint returns the hex SHA-256 of everything that changes pixels: the
// spec, the versions of our own steps, and those of the decoders, which are the
// Go release (image/jpeg changed in 1.26) and golang.org/x/image. Limits are
// not part of it: they only decide whether there are pixels.
func (s Spec) Fingerprint() string {
	sum := sha256.Sum256([]byte(s.canonical(runtime.Version())))
	return hex.EncodeToString(sum[:])
}

// Geometry returns the hex SHA-256 of the part of the fingerprint that does not
// depend on decoders: size, resize, crop, orientation and normalisation, the
// rules for colours and alpha, and that for scaled decoding.
func (s Spec) Geometry() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "pipeline geometry 1\nrules %d\nresizer %d\nscaled %d\n%s", decoderVersion,
		resizerVersion, scaledVersion, s.settings()))
	return hex.EncodeToString(sum[:])
}

func (s Spec) canonical(goVersion string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pipeline preprocess %d\n", fingerprintVersion)
	fmt.Fprintf(&b, "decoder %d go %s x/image %s\n", decoderVersion, goRelease(goVersion), xImageVersion)
	fmt.Fprintf(&b, "chroma %d\nresizer %d\nmetadata %d\n", chromaVersion, resizerVersion, metadataVersion)
	b.WriteString(s.settings())
	if s.Decoder != "" {
		fmt.Fprintf(&b, "decoders %q scaled %d\n", s.Decoder, scaledVersion)
	}
	if s.HEIFThumbnail {
		fmt.Fprintf(&b, "heif thumbnail %d\n", heifThumbnailVersion)
	}
	return b.String()
}

// settings returns the canonical text of all fields but the decoder.
func (s Spec) settings() string {
	text := fmt.Sprintf("resize %q\nsize %d\ncrop %d\ninterpolation %q\nmean %s\nstd %s\norientation %t\n",
		s.Resize, s.Size, s.Crop, s.Interpolation, exactFloats(s.Mean), exactFloats(s.Std), s.Orientation)
	if s.View != "" {
		text += fmt.Sprintf("view %q %d\n", s.View, squaresVersion)
	}
	return text
}

// goRelease shortens "go1.26.8" to "1.26": patch releases do not change
// decoders. It returns a development version unchanged.
func goRelease(version string) string {
	rest, ok := strings.CutPrefix(version, "go")
	if !ok {
		return version
	}
	rest, _, _ = strings.Cut(rest, " ")
	parts := strings.SplitN(rest, ".", 3)
	if len(parts) < 2 {
		return rest
	}
	minor, _, _ := strings.Cut(parts[1], "rc")
	minor, _, _ = strings.Cut(minor, "beta")
	return parts[0] + "." + minor
}

// exactFloats formats floats so that different values have different texts.
func exactFloats(v [3]float64) string {
	text := make([]string, len(v))
	for i, x := range v {
		text[i] = strconv.FormatFloat(x, 'x', -1, 64)
	}
	return strings.Join(text, " ")
}
