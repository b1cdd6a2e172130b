package preprocess

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/preprocess/photometa"
)

// A format is a file's format as detected from its content.
type format string

const (
	formatUnknown format = "file"
	formatJPEG    format = "JPEG"
	formatPNG     format = "PNG"
	formatGIF     format = "GIF"
	formatBMP     format = "BMP"
	formatTIFF    format = "TIFF"
	formatWebP    format = "WebP"
	formatHEIC    format = "HEIC" // and HEIF files that do not say which codec
	formatAVIF    format = "AVIF"
	formatRaw     format = "raw" // of a camera, whose preview is read
)

// Formats returns the names of the formats that can be read, in lower case.
func Formats() []string {
	var names []string
	for _, f := range []format{formatJPEG, formatPNG, formatGIF, formatBMP, formatTIFF, formatWebP, formatHEIC,
		formatAVIF, formatRaw} {
		names = append(names, strings.ToLower(string(f)))
	}
	return names
}

// FormatOf returns which of Formats a file has. The error is that of decoding it if it has none.
func FormatOf(file []byte) (string, error) {
	f, err := identify(file)
	return strings.ToLower(string(f)), err
}

// A signature is a prefix that identifies a format; '?' stands for any byte.
type signature struct {
	prefix string
	format format
}

func readable() []signature {
	return []signature{
		{"\xff\xd8\xff", formatJPEG},
		{"\x89PNG\r\n\x1a\n", formatPNG},
		{"GIF87a", formatGIF},
		{"GIF89a", formatGIF},
		{"BM????????????\x0c\x00\x00\x00????\x01\x00", formatBMP},
		{"BM????????????\x10\x00\x00\x00????????\x01\x00", formatBMP},
		{"BM????????????\x28\x00\x00\x00????????\x01\x00", formatBMP},
		{"BM????????????\x34\x00\x00\x00????????\x01\x00", formatBMP},
		{"BM????????????\x38\x00\x00\x00????????\x01\x00", formatBMP},
		{"BM????????????\x40\x00\x00\x00????????\x01\x00", formatBMP},
		{"BM????????????\x6c\x00\x00\x00????????\x01\x00", formatBMP},
		{"BM????????????\x7c\x00\x00\x00????????\x01\x00", formatBMP},
		{"II*\x00", formatTIFF},
		{"MM\x00*", formatTIFF},
		{"RIFF????WEBP", formatWebP},
		{"FUJIFILMCCD-RAW", formatRaw},
		{"IIRO", formatRaw}, {"IIRS", formatRaw}, {"MMOR", formatRaw}, // Olympus
		{"IIU\x00", formatRaw},                    // Panasonic
		{"II\x1a\x00\x00\x00HEAPCCDR", formatRaw}, // Canon CRW
		{"\x00MRM", formatRaw},                    // Minolta
		{"FOVb", formatRaw},                       // Sigma
	}
}

// foreign lists unsupported formats that occur in photo folders.
func foreign() []signature {
	return []signature{
		{"\xff\x0a", "JPEG XL"},
		{"\x00\x00\x00\x0cJXL \r\n\x87\n", "JPEG XL"},
		{"\x00\x00\x00\x0cjP  \r\n\x87\n", "JPEG 2000"},
		{"\xff\x4f\xff\x51", "JPEG 2000"},
		{"II\xbc\x01", "JPEG XR"},
		{"II+\x00", "BigTIFF"}, {"MM\x00+", "BigTIFF"},
		{"8BPS", "Photoshop (PSD)"},
		{"%PDF", "PDF"}, {"%!PS", "PostScript"},
		{"\x00\x00\x01\x00", "Windows icon"},
		{"\x76\x2f\x31\x01", "OpenEXR"},
		{"#?RADIANCE", "Radiance HDR"}, {"qoif", "QOI"}, {"DDS ", "DDS"}, {"gimp xcf", "GIMP (XCF)"},
		{"P1\n", "PNM"}, {"P2\n", "PNM"}, {"P3\n", "PNM"}, {"P4\n", "PNM"}, {"P5\n", "PNM"}, {"P6\n", "PNM"},
		{"RIFF????AVI ", "AVI video"}, {"\x1aE\xdf\xa3", "Matroska video"},
		{"PK\x03\x04", "ZIP archive"}, {"\x1f\x8b", "gzip archive"},
		{"version https://git-lfs", "Git LFS pointer"},
	}
}

// identify returns the supported format that the first bytes show, or an error.
func identify(file []byte) (format, error) {
	if f, ok := match(file, readable()); ok {
		if f == formatTIFF && photometa.IsRaw(file) {
			f = formatRaw
		}
		return f, nil
	}
	f, ok := mediaBrand(file)
	if ok && (f == formatHEIC || f == formatAVIF || f == formatRaw) {
		return f, nil
	}
	if !ok {
		f, ok = matchForeign(file)
	}
	if ok {
		return formatUnknown, fmt.Errorf("read image: %w: this is %s; convert it to JPEG or PNG first%s",
			ErrFormat, f, advice(f))
	}
	if bytes.HasPrefix(file, []byte("\x89PNG")) || bytes.HasPrefix(file, []byte("\xc2\x89PNG")) {
		return formatUnknown, fmt.Errorf("read image: %w: this PNG was changed on its way, as if it were text; copy "+
			"the file again from its source", ErrCorrupt)
	}
	if len(bytes.Trim(file, "\x00")) == 0 {
		return formatUnknown, fmt.Errorf("read image: %w: all %d bytes are zero; copy the file again from its source",
			ErrCorrupt, len(file))
	}
	return formatUnknown, fmt.Errorf("read image: %w: the content is not JPEG, PNG, GIF, BMP, TIFF, WebP, HEIC or AVIF",
		ErrFormat)
}

// advice names a program that converts a format.
func advice(f format) string {
	if f == "JPEG XL" {
		return " (djxl IN.jxl OUT.png)"
	}
	return ""
}

func matchForeign(file []byte) (format, bool) {
	if f, ok := match(file, foreign()); ok {
		return f, true
	}
	return markup(file)
}

func match(file []byte, list []signature) (format, bool) {
	for _, s := range list {
		if hasPrefix(file, s.prefix) {
			return s.format, true
		}
	}
	return formatUnknown, false
}

func hasPrefix(file []byte, pattern string) bool {
	if len(file) < len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != file[i] {
			return false
		}
	}
	return true
}

// mediaBrand reads the brands of an ISO base media file ("ftyp" box).
func mediaBrand(file []byte) (format, bool) {
	if len(file) < 12 || string(file[4:8]) != "ftyp" {
		return formatUnknown, false
	}
	brands := []string{string(file[8:12])}
	for i := 16; i+4 <= min(len(file), 64); i += 4 {
		brands = append(brands, string(file[i:i+4]))
	}
	return brandName(brands), true
}

func brandName(brands []string) format {
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(brands, n) })
	}
	switch {
	case has("avif", "avis"):
		return formatAVIF
	case brands[0] == "crx ":
		return formatRaw // CR3
	case has("heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"):
		return formatHEIC
	}
	return "a video (MP4 or MOV)"
}

// markup recognises text formats: SVG pictures and HTML error pages.
func markup(file []byte) (format, bool) {
	head := strings.ToLower(string(file[:min(len(file), 512)]))
	head = strings.TrimLeft(strings.TrimPrefix(head, "\xef\xbb\xbf"), " \t\r\n")
	switch {
	case strings.HasPrefix(head, "<") && strings.Contains(head, "<svg"):
		return "SVG", true
	case strings.HasPrefix(head, "<!doctype html"), strings.HasPrefix(head, "<html"):
		return "an HTML page (a failed download?)", true
	}
	return formatUnknown, false
}
