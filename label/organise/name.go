package organise

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"path/filepath"
	"strings"
)

// unknownFolder holds the rejected images. No class folder has this name:
// folderName escapes a leading underscore.
const unknownFolder = "_rejected"

// folderName turns a class name into a safe folder name; different classes have
// different names.
func folderName(class string) string {
	if class == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(class) {
		c := class[i]
		switch {
		case c < 0x20 || c == 0x7f || strings.IndexByte(`/\%:*?"<>|`, c) >= 0,
			i == 0 && (c == '.' || c == '_' || c == '-' || c == ' '),
			i == len(class)-1 && (c == '.' || c == ' '):
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		default:
			b.WriteByte(c)
		}
	}
	return shortened(b.String())
}

// shortened limits a name to the 255 bytes that file systems allow.
func shortened(name string) string {
	const longest = 200
	if len(name) <= longest {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return strings.ToValidUTF8(name[:longest-17], "") + "%" + hex.EncodeToString(sum[:8])
}

// placeOf returns an image's path in the tree: its own path below the class
// folder, or a generated name for an image from outside the image folder.
func placeOf(class, image string) string {
	if filepath.IsAbs(filepath.FromSlash(image)) {
		sum := sha256.Sum256([]byte(image))
		image = "outside-" + hex.EncodeToString(sum[:4]) + "-" + path.Base(image)
	}
	return filepath.Join(class, filepath.FromSlash(image))
}

// imageOf is the inverse of placeOf for images inside the image folder: it
// returns the path below the class folder.
func imageOf(place string) (string, bool) {
	_, image, nested := strings.Cut(filepath.ToSlash(place), "/")
	return image, nested
}
