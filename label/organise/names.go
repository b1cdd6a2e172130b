package organise

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FolderName turns a class name into a safe folder name; different classes have
// different names.
func FolderName(class string) string {
	if class == "" {
		return "%"
	}
	return escaped(class, "._- ")
}

// CropName names the picture of box n of a photo, in JPEG: photo.jpg.2.jpg. CropOf is its
// inverse.
func CropName(photo string, n int) string { return fmt.Sprintf("%s.%d%s", photo, n, cropSuffix) }

const cropSuffix = ".jpg"

// CropOf returns the photo of a picture that has the name of a crop.
func CropOf(name string) (photo string, ok bool) {
	stem, crop := strings.CutSuffix(name, cropSuffix)
	at := strings.LastIndexByte(stem, '.')
	if !crop || at < 1 {
		return "", false
	}
	n, err := strconv.Atoi(stem[at+1:])
	return stem[:at], err == nil && n > 0 && stem[at+1:] == strconv.Itoa(n)
}

// FileName turns a part of a path, which is no more than text, into one that every system
// can have and that begins like no hidden file; different parts have different names.
func FileName(part string) string {
	if strings.HasPrefix(part, "__") {
		return escaped(part, "_")
	}
	return escaped(part, ". ")
}

// escaped writes %XX for bytes that the names of files cannot have, and for those of
// first if the name begins with one.
func escaped(name, first string) string {
	var b strings.Builder
	device := isDevice(name)
	for i := range len(name) {
		c := name[i]
		switch {
		case c < 0x20 || c == 0x7f || strings.IndexByte(`/\%:*?"<>|`, c) >= 0,
			i == 0 && (device || strings.IndexByte(first, c) >= 0),
			i == len(name)-1 && (c == '.' || c == ' '):
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		default:
			b.WriteByte(c)
		}
	}
	return shortened(b.String(), 200)
}

// Unescaped returns the name that FolderName or FileName was given, unless it was too long.
func Unescaped(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			if c, err := hex.DecodeString(name[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// isDevice reports whether Windows takes a name, with any suffix, for a device.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	number, port := strings.CutPrefix(base, "COM")
	if !port {
		number, port = strings.CutPrefix(base, "LPT")
	}
	return port && slices.Contains([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}, number)
}
