package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// A text is a list in any encoding and with any ends of lines. It is read several times.
type text struct {
	file io.ReaderAt
	size int64
	// encoding names what is not UTF-8, "" if nothing is.
	encoding string
	decoder  encoding.Encoding
	// oldMac means that lines end with a carriage return alone.
	oldMac bool
	// doubled means that lines end with \r\r\n, as after two conversions of \n.
	doubled bool
	// separator is what Excel's first line sep=; says, 0 if there is none. The line is
	// not part of the text.
	separator rune
}

// headBytes is how much of a list decides on its form.
const headBytes = 64 << 10

var excelSeparator = regexp.MustCompile(`^(?i:"?sep=)([^\r\n"])"?(\r\n|\n|\r)`)

func openText(file io.ReaderAt, size int64) (*text, error) {
	t := &text{file: file, size: size}
	head := make([]byte, min(size, headBytes))
	if _, err := file.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return nil,
			errors.New("this is a workbook (Excel, LibreOffice) or an archive, not text; save the sheet as CSV UTF-8")
	case bytes.HasPrefix(head, []byte("\xff\xfe")), isUTF16(head) && head[1] == 0:
		t.encoding, t.decoder = "UTF-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")), isUTF16(head):
		t.encoding, t.decoder = "UTF-16", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	plain, _ := io.ReadAll(io.LimitReader(t.raw(), headBytes))
	t.oldMac = bytes.IndexByte(plain, '\r') >= 0 && bytes.IndexByte(plain, '\n') < 0
	t.doubled = bytes.Contains(plain, []byte("\r\r\n"))
	if m := excelSeparator.FindSubmatch(plain); m != nil {
		t.separator, _ = utf8.DecodeRune(m[1])
	}
	return t, nil
}

// raw returns the text as UTF-8, without its byte order mark.
func (t *text) raw() io.Reader {
	r := io.Reader(io.NewSectionReader(t.file, 0, t.size))
	if t.decoder != nil {
		return transform.NewReader(r, t.decoder.NewDecoder())
	}
	b := bufio.NewReaderSize(r, headBytes)
	if head, _ := b.Peek(3); string(head) == "\xef\xbb\xbf" {
		_, _ = b.Discard(3) // they are in the buffer
	}
	return b
}

// skipped is the number of lines before those of reader.
func (t *text) skipped() int {
	if t.separator != 0 {
		return 1
	}
	return 0
}

// lines returns the text with lines that end with a line feed, without Excel's first.
func (t *text) lines() (*bufio.Reader, error) {
	r := t.raw()
	if t.oldMac {
		r = oldMacReader{r}
	}
	if t.doubled {
		r = noReturns{r}
	}
	b := bufio.NewReaderSize(newLineLimiter(r), headBytes)
	if t.separator != 0 {
		if _, err := b.ReadString('\n'); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// start returns the first character that is not white space.
func (t *text) start() byte {
	head, _ := io.ReadAll(io.LimitReader(t.raw(), headBytes))
	if head = bytes.TrimLeft(head, " \t\r\n"); len(head) > 0 {
		return head[0]
	}
	return 0
}

// isUTF16 recognises two Latin letters without a byte order mark.
func isUTF16(head []byte) bool {
	if len(head) < 4 {
		return false
	}
	little := head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0
	big := head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0
	return little || big
}

// An oldMacReader ends lines with line feeds.
type oldMacReader struct{ io.Reader }

func (r oldMacReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	for i, c := range b[:n] {
		if c == '\r' {
			b[i] = '\n'
		}
	}
	return n, err
}

// A noReturns reader leaves out carriage returns.
type noReturns struct{ io.Reader }

func (r noReturns) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	return len(slices.DeleteFunc(b[:n], func(c byte) bool { return c == '\r' })), err
}

// windows1252 returns what a text of that encoding says, "" if it is none.
func windows1252(text string) string {
	out, err := charmap.Windows1252.NewDecoder().String(text)
	if err != nil || !utf8.ValidString(out) || bytes.ContainsRune([]byte(out), utf8.RuneError) {
		return ""
	}
	return out
}
