package dataset

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// kindImage marks files for the preprocessor; every other kind is a key of
// Listing.Skipped.
const kindImage = "image"

// kindByExtension maps lower-case extensions. JPEG XL counts as an image although
// nothing here decodes it: the user gets a row that says so rather than silence.
func kindByExtension(ext string) string {
	switch ext {
	case ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp",
		".heic", ".heif", ".avif", ".jxl":
		return kindImage
	case ".mp4", ".mov", ".avi", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".wmv", ".flv", ".3gp", ".mts", ".m2ts",
		".ogv":
		return "video"
	case ".mp3", ".wav", ".m4a", ".aac", ".flac", ".ogg", ".opus", ".wma":
		return "audio"
	case ".xmp", ".json", ".txt", ".xml", ".csv", ".aae", ".thm", ".yaml", ".yml", ".md":
		return "sidecar"
	case ".cr2", ".cr3", ".nef", ".arw", ".dng", ".orf", ".rw2", ".raf", ".pef", ".srw":
		return "raw"
	case ".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst":
		return "archive"
	}
	return "other"
}

// kindByName decides by the base name alone; "" means that the content must
// decide.
func kindByName(name string) string {
	if hiddenName(name) {
		return "hidden"
	}
	switch lower := strings.ToLower(name); lower {
	case "thumbs.db", "ehthumbs.db", "desktop.ini":
		return "system"
	default:
		ext := filepath.Ext(lower)
		if ext == "" {
			return ""
		}
		return kindByExtension(ext)
	}
}

// hiddenName covers dot files, AppleDouble resource forks (._photo.jpg), and
// the folders that NAS systems and macOS archives add to photo folders.
func hiddenName(name string) bool {
	return strings.HasPrefix(name, ".") || name == "@eaDir" || name == "__MACOSX"
}

// isSidecar reports whether a file is the sidecar of one image
// (photo.jpg.xmp). Sidecars are not counted: label --xmp writes them, and a
// second run must count what the first did.
func isSidecar(name string) bool {
	image, isXMP := strings.CutSuffix(strings.ToLower(name), ".xmp")
	return isXMP && kindByExtension(filepath.Ext(image)) == kindImage
}

const magicBytes = 16

// kindByContent sniffs the first bytes of a regular file.
func kindByContent(file string) (string, error) {
	f, _, err := regularfile.Open(file) // what was one may be a pipe by now
	if err != nil {
		return "", err
	}
	defer f.Close()
	var magic [magicBytes]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	if imageMagic(magic[:n]) {
		return kindImage, nil
	}
	return "other", nil
}

// imageMagic recognises the formats of kindByExtension by their first bytes.
func imageMagic(head []byte) bool {
	for _, prefix := range []string{
		"\xff\xd8\xff", "\x89PNG\r\n\x1a\n", "GIF87a", "GIF89a", "II*\x00", "MM\x00*",
		"\xff\x0a", "\x00\x00\x00\x0cJXL ",
	} {
		if bytes.HasPrefix(head, []byte(prefix)) {
			return true
		}
	}
	if len(head) < 12 {
		return false
	}
	brand := string(head[8:12])
	switch {
	case string(head[:4]) == "RIFF" && brand == "WEBP":
		return true
	case string(head[4:8]) == "ftyp":
		return slices.Contains([]string{"heic", "heix", "hevc", "heim", "heis", "mif1", "msf1", "avif", "avis"}, brand)
	}
	// BMP: "BM", and the two reserved words are zero.
	return string(head[:2]) == "BM" && string(head[6:10]) == "\x00\x00\x00\x00"
}
