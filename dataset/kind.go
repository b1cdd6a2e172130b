package dataset

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// kindImage and kindRaw mark files for the preprocessor; every other kind is a key of
// Listing.Skipped, and so is a raw photo with a JPEG or HEIC of the same name.
const kindImage, kindRaw = "image", "raw"

// pictured reports whether a kind is one that is read.
func pictured(kind string) bool { return kind == kindImage || kind == kindRaw }

// kindByExtension maps lower-case extensions; "" means that the content must decide.
// JPEG XL counts as an image although nothing here decodes it: the user gets a row
// that says so rather than silence.
func kindByExtension(ext string) string {
	switch ext {
	case ".jpg", ".jpeg", ".jpe", ".jfif", ".jif", ".pjpeg", ".pjp", ".mpo", ".jps", ".jpg_large", ".png", ".apng",
		".gif", ".bmp", ".dib", ".tif", ".tiff", ".webp", ".heic", ".heif", ".hif", ".heics", ".heifs", ".avif",
		".avifs", ".jxl":
		return kindImage
	case ".mp4", ".mov", ".avi", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".wmv", ".flv", ".3gp", ".mts", ".m2ts",
		".ogv":
		return "video"
	case ".mp3", ".wav", ".m4a", ".aac", ".flac", ".ogg", ".opus", ".wma":
		return "audio"
	case ".xmp", ".json", ".txt", ".xml", ".csv", ".aae", ".thm", ".yaml", ".yml", ".md":
		return "sidecar"
	case ".cr2", ".cr3", ".crw", ".nef", ".nrw", ".arw", ".sr2", ".srf", ".dng", ".orf", ".rw2", ".rwl", ".raf",
		".pef", ".ptx", ".srw", ".3fr", ".fff", ".iiq", ".dcr", ".dcs", ".kdc", ".erf", ".mef", ".mos", ".mrw", ".x3f",
		".gpr":
		return kindRaw
	case ".part", ".partial", ".crdownload", ".download", ".opdownload", ".filepart", ".tmp", ".temp":
		return "unfinished"
	case ".bak", ".old", ".orig":
		return "backup"
	case ".exe", ".dll", ".so", ".app", ".bin", ".iso", ".dmg", ".apk", ".db", ".lnk", ".url", ".html", ".htm", ".svg",
		".psd", ".psb", ".ai", ".eps", ".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".py",
		".sh", ".js", ".npy", ".npz", ".onnx", ".parquet":
		return "other"
	case ".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst":
		return "archive"
	}
	return ""
}

// kindByName decides by the base name alone; "" means that the content must
// decide.
func kindByName(name string) string {
	lower := strings.ToLower(name)
	switch ext := filepath.Ext(lower); {
	case hiddenName(name):
		return "hidden"
	case lower == "thumbs.db", lower == "ehthumbs.db", lower == "desktop.ini", name == "Icon\r",
		strings.HasPrefix(name, "SYNOFILE_THUMB_"), strings.HasPrefix(name, "SYNOPHOTO_THUMB_"):
		return "system"
	case isBackup(lower):
		return "backup"
	default:
		return kindByExtension(ext)
	}
}

// isBackup recognises the copies that editors (photo.jpg~) and ExifTool
// (photo.jpg_original) keep of a file that they change.
func isBackup(lower string) bool {
	return strings.HasSuffix(lower, "~") || strings.HasSuffix(lower, "_original") && strings.Contains(lower, ".")
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
	return isXMP && pictured(kindByExtension(filepath.Ext(image)))
}

// magicBytes is enough for the first brands of a HEIF file.
const magicBytes = 64

// kindByContent looks at the first bytes of a regular file.
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
		"\xff\x0a", "\x00\x00\x00\x0cJXL ", "FUJIFILMCCD-RAW", "IIRO", "IIRS", "MMOR", "IIU\x00",
	} {
		if bytes.HasPrefix(head, []byte(prefix)) {
			return true
		}
	}
	if len(head) < 12 {
		return false
	}
	switch {
	case string(head[:4]) == "RIFF":
		return string(head[8:12]) == "WEBP"
	case string(head[4:8]) == "ftyp":
		return heifBrand(head)
	}
	// BMP: "BM", and the two reserved words are zero.
	return string(head[:2]) == "BM" && string(head[6:10]) == "\x00\x00\x00\x00"
}

// heifBrand reports whether the major brand of an ISO media file, or one that it is
// compatible with, is of HEIF, or of Canon's raw files.
func heifBrand(head []byte) bool {
	end := len(head)
	if size := binary.BigEndian.Uint32(head); size >= 16 { // otherwise it has no list, or reaches to the end
		end = min(end, int(size))
	}
	for at := 8; at+4 <= end; at += 4 {
		switch string(head[at : at+4]) {
		case "crx ", "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "mif2", "msf1", "avif",
			"avis":
			return true
		}
	}
	return false
}

// developed reports whether a raw photo has a picture of the same name in its folder, as cameras write both.
func developed(file string) bool {
	stem := strings.TrimSuffix(file, filepath.Ext(file))
	for _, suffix := range []string{".jpg", ".JPG", ".jpeg", ".JPEG", ".heic", ".HEIC", ".hif", ".HIF"} {
		if info, err := os.Stat(stem + suffix); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}
