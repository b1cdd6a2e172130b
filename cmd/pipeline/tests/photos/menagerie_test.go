//go:build unix

package photos

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// add writes a file; name may be any bytes.
func (m *menagerie) add(name string, data []byte) {
	m.Helper()
	m.Write(filepath.Join(m.root, name), data)
}

// cell returns a path as written in a CSV file.
func cell(name string) string {
	name = dataset.EscapePath(name)
	if strings.ContainsRune("=+-@\t\r", rune(name[0])) {
		return "'" + name
	}
	return name
}

func (m *menagerie) fine(name string, data []byte) {
	m.Helper()
	m.add(name, data)
	m.good = append(m.good, cell(name))
}

func (m *menagerie) broken(name, reason string, data []byte) {
	m.Helper()
	m.add(name, data)
	m.bad[cell(name)] = reason
}

func (m *menagerie) skip(kind, name string, data []byte) {
	m.Helper()
	m.add(name, data)
	m.skipped[kind]++
}

func encoded(write func(*bytes.Buffer) error) []byte {
	var buf bytes.Buffer
	if err := write(&buf); err != nil {
		panic(err) // into memory it cannot fail
	}
	return buf.Bytes()
}

func pngOf(img image.Image) []byte {
	return encoded(func(b *bytes.Buffer) error { return png.Encode(b, img) })
}

func ramp(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	return img
}

func paletted() *image.Paletted {
	img := image.NewPaletted(image.Rect(0, 0, 20, 10),
		color.Palette{color.NRGBA{}, color.NRGBA{255, 0, 0, 128}, color.White})
	for i := range img.Pix {
		img.Pix[i] = byte(i % 3)
	}
	return img
}

// goodImages are those that Go can write.
func (m *menagerie) goodImages() {
	jpg := commandtest.Photo("kiwi", 1, 40)
	deep := image.NewNRGBA64(image.Rect(0, 0, 9, 9))
	for i := range deep.Pix {
		deep.Pix[i] = byte(i * 11)
	}
	grey := image.NewGray(image.Rect(0, 0, 30, 20))
	frames := &gif.GIF{Image: []*image.Paletted{paletted(), paletted()}, Delay: []int{1, 1}}
	m.fine("baseline.jpg", jpg)
	m.fine("grey.jpg", encoded(func(b *bytes.Buffer) error { return jpeg.Encode(b, grey, nil) }))
	m.fine("16-bit.png", pngOf(deep))
	m.fine("palette.png", pngOf(paletted()))
	m.fine("1x1.png", pngOf(ramp(1, 1)))
	m.fine("1x5000.png", pngOf(ramp(1, 5000)))
	m.fine("5000x1.png", pngOf(ramp(5000, 1)))
	m.fine("animated.gif", encoded(func(b *bytes.Buffer) error { return gif.EncodeAll(b, frames) }))
	m.fine("picture.bmp", encoded(func(b *bytes.Buffer) error { return bmp.Encode(b, ramp(9, 7)) }))
	m.fine("picture.tiff", encoded(func(b *bytes.Buffer) error { return tiff.Encode(b, ramp(9, 7), nil) }))
	m.fine("png named.jpg", pngOf(ramp(8, 8)))
	m.fine("UPPER.JPG", jpg)
	m.fine("no-extension", jpg)
	m.fine("trailing bytes.jpg", append(slices.Clone(jpg), "PK\x03\x04 and more"...))
	m.fine("rotated.jpg", withOrientation(jpg, 6))
	m.fine(strings.Repeat("deep/", 60)+"photo.jpg", jpg)
	m.fine("folder.jpg/inside.jpg", jpg)
}

// withOrientation inserts an EXIF block that says how the camera was held.
func withOrientation(jpg []byte, orientation uint16) []byte {
	exif := []byte("Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00")
	exif = binary.LittleEndian.AppendUint16(exif, orientation)
	exif = append(exif, 0, 0, 0, 0, 0, 0)
	block := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))
	return slices.Concat(jpg[:2], block, exif, jpg[2:])
}

// goldens are tiny files that Go cannot write.
func (m *menagerie) goldens() {
	for _, name := range []string{
		"progressive.jpg", "cmyk.jpg", "ycck.jpg", "411.jpg", "alpha.webp", "animated.webp", "lossless.webp",
		"orientation_6.jpg", "palette_alpha.png", "offset.gif", "P.gif", "group4.tif", "1.bmp",
	} {
		m.fine("golden/"+name, m.Read("..", "..", "..", "..", "preprocess", "testdata", "images", name))
	}
}

func (m *menagerie) oddNames() {
	jpg := commandtest.Photo("lime", 2, 40)
	for _, name := range []string{
		"caf\xe9.jpg", "new\nline.jpg", "carriage\r\nreturn.jpg", "a,b;c.jpg", `quote"d'.jpg`, "=cmd|' /C calc'!A0.jpg",
		"<script>alert(1)<.jpg",
		"-rf.jpg", "@at.jpg", " space .jpg", "tab\t.jpg", "%41.jpg", "100%.jpg", "日本語 \u202egpj.jpg", "\U0001f34b.jpg",
		strings.Repeat("n", 251) + ".jpg", "back\\slash.jpg", "..two dots.jpg.jpg",
	} {
		if strings.HasPrefix(name, ".") {
			m.skip("hidden", name, jpg)
			continue
		}
		m.fine(name, jpg)
	}
}

func (m *menagerie) badImages() {
	jpg := commandtest.Photo("plum", 3, 60)
	whole := pngOf(ramp(40, 40))
	m.broken("empty.jpg", "empty", nil)
	m.broken("cut.jpg", "cut short", jpg[:len(jpg)/2])
	m.broken("cut.png", "cut short", whole[:len(whole)/2])
	m.broken("header only.jpg", "cut short", jpg[:20])
	m.broken("garbage.jpg", "format", bytes.Repeat([]byte{0x5a, 0x17, 0xc3}, 999))
	m.broken("text.jpg", "format", []byte("This is not a photo.\n"))
	m.broken("zeros.png", "bytes are zero", make([]byte, 4096))
	m.broken("phone.heic", "heic", ftyp("heic"))
	m.broken("modern.avif", "avif", ftyp("avif"))
	m.broken("heic named.jpg", "heic", ftyp("heic"))
	m.broken("drawing.png", "svg",
		[]byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>`))
	m.broken("page.jpg", "html", []byte("<!DOCTYPE html><html><body>404</body></html>"))
	m.broken("bomb.png", "too large", pngHeader(100000, 100000))
	m.broken("archive.jpg", "zip", encoded(func(b *bytes.Buffer) error {
		w := zip.NewWriter(b)
		if _, err := w.Create("x"); err != nil {
			return err
		}
		return w.Close()
	}))
	m.broken("document.jpg", "pdf", []byte("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"))
	flipped := slices.Clone(whole)
	flipped[len(flipped)/2] ^= 0xff
	m.broken("damaged.png", "damaged", flipped)
	m.broken("huge.jpg", "too large", nil)
	if err := os.Truncate(filepath.Join(m.root, "huge.jpg"), 1<<33); err != nil { // sparse
		m.Fatal(err)
	}
}

func ftyp(brand string) []byte {
	return []byte("\x00\x00\x00\x18ftyp" + brand + "\x00\x00\x00\x00mif1" + brand + "\x00\x00\x00\x08mdat")
}

func pngChunk(kind string, data []byte) []byte {
	body := append([]byte(kind), data...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	return binary.BigEndian.AppendUint32(append(chunk, body...), crc32.ChecksumIEEE(body))
}

const pngMagic = "\x89PNG\r\n\x1a\n"

func pngHeader(w, h uint32) []byte {
	header := binary.BigEndian.AppendUint32(nil, w)
	header = append(binary.BigEndian.AppendUint32(header, h), 8, 2, 0, 0, 0)
	return append([]byte(pngMagic), pngChunk("IHDR", header)...)
}

// damagedPalettes have pixels outside their palette (CVE-2023-36308); they
// are read, as black, and must not panic.
func (m *menagerie) damagedPalettes() {
	rows := encoded(func(b *bytes.Buffer) error {
		z := zlib.NewWriter(b)
		for range 4 {
			if _, err := z.Write([]byte{0, 0, 200, 7, 255}); err != nil {
				return err
			}
		}
		return z.Close()
	})
	m.fine("palette-index.png", slices.Concat([]byte(pngMagic),
		pngChunk("IHDR", []byte{0, 0, 0, 4, 0, 0, 0, 4, 8, 3, 0, 0, 0}),
		pngChunk("PLTE", []byte{255, 0, 0, 0, 255, 0}), pngChunk("IDAT", rows), pngChunk("IEND", nil)))
	large := paletted()
	large.Palette = slices.Repeat(color.Palette{color.White}, 256)
	for i := range large.Pix {
		large.Pix[i] = byte(i)
	}
	data := encoded(func(b *bytes.Buffer) error { return gif.Encode(b, large, nil) })
	data[10] &^= 7 // the table now counts for two colours; what follows is noise
	m.broken("palette-index.gif", "", data)
}

func (m *menagerie) links() {
	link := func(to, name string) {
		must.Do(m, os.Symlink(to, filepath.Join(m.root, name)))
	}
	link("baseline.jpg", "link to file.jpg")
	m.good = append(m.good, "link to file.jpg")
	link("nowhere.jpg", "broken link.jpg")
	m.bad["broken link.jpg"] = "broken symbolic link"
	link("loop.jpg", "loop.jpg")
	m.bad["loop.jpg"] = "loop"
	m.fine("folder/a.jpg", commandtest.Photo("lime", 4, 40))
	link("..", "folder/up")
	m.bad["folder/up"] = "loop"
	link("folder", "linked folder")
	m.skipped["linked twice"]++
}

func (m *menagerie) specials(t *testing.T) {
	must.Do(t, syscall.Mkfifo(filepath.Join(m.root, "pipe.jpg"), 0o644))
	m.skipped["special"]++
	t.Chdir(m.root) // a socket's path must be short
	socket := must.Get(net.Listen("unix", "socket.jpg"))(t)
	t.Cleanup(func() { socket.Close() })
	m.skipped["special"]++
}

func (m *menagerie) noImages() {
	jpg := commandtest.Photo("plum", 5, 40)
	for kind, names := range map[string][]string{
		"video":   {"film.mp4", "clip.MOV"},
		"audio":   {"memo.m4a"},
		"sidecar": {"photo.xmp", "photo.json", "readme.txt"},
		"raw":     {"photo.CR2"},
		"archive": {"backup.zip"},
		"system":  {"Thumbs.db", "desktop.ini", "SYNOFILE_THUMB_M.jpg"},
		"hidden":  {".DS_Store", "._photo.jpg", ".hidden.jpg", "@eaDir/small.jpg", ".thumbnails/a.jpg"},
		"other":   {"program.exe", "vector.svg"},
	} {
		for _, name := range names {
			m.skip(kind, name, jpg) // the name decides
		}
	}
	m.fine("photo.jpg", commandtest.Photo("plum", 7, 40)) // which the camera wrote with its raw photo
	m.skip("other", "plain", []byte("no extension, no image\n"))
}

// unreadable needs a user whom permissions apply to.
func (m *menagerie) unreadable() {
	probe := filepath.Join(m.TempDir(), "probe")
	must.Do(m, os.WriteFile(probe, nil, 0))
	if _, err := os.ReadFile(probe); err == nil {
		m.Log("this user reads everything, as root does: unreadable files are left out")
		return
	}
	m.broken("secret.jpg", "permission denied", commandtest.Photo("plum", 6, 40))
	m.fine("closed/a.jpg", nil)
	m.good = m.good[:len(m.good)-1]
	m.bad["closed"] = "permission denied"
	for name, mode := range map[string]os.FileMode{"secret.jpg": 0, "closed": 0} {
		path := filepath.Join(m.root, name)
		must.Do(m, os.Chmod(path, mode))
		m.Cleanup(func() { _ = os.Chmod(path, 0o755) })
	}
}
