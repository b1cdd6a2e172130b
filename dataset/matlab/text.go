package matlab

import (
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a char array into its rows.
func (k *keeper) text(c *cursor, dims []int) ([]string, error) {
	n, err := product(dims)
	if err != nil || n == 0 {
		return nil, err
	}
	if len(dims) != 2 {
		return nil, fmt.Errorf("a text of size %s; only lines and matrices are read", sizeText(dims))
	}
	kind, body, err := c.element()
	if err != nil {
		return nil, err
	}
	// Four bytes a character, the text itself, and a string a row.
	if err := k.take(body.left + 4*max(n, body.left) + 16*int64(dims[0])); err != nil {
		return nil, err
	}
	if n > body.left {
		return nil, fmt.Errorf("a text of size %s in %d bytes: damaged", sizeText(dims), body.left)
	}
	data, err := body.all()
	if err != nil {
		return nil, err
	}
	chars, err := characters(kind, body, data, n)
	if err != nil {
		return nil, err
	}
	return rowsOf(chars, dims[0], dims[1])
}

// all reads the whole element; memory grows with what was really there.
func (c *cursor) all() ([]byte, error) {
	var data []byte
	var part [1 << 12]byte
	for c.left > 0 {
		n := min(c.left, int64(len(part)))
		if err := c.read(part[:n]); err != nil {
			return nil, err
		}
		data = append(data, part[:n]...)
	}
	return data, c.close()
}

var errNotText = errors.New("not a valid text: damaged, or of an encoding that is not read")

// characters decodes the n characters of a char array. A character is a UTF-16
// unit, as in MATLAB, or a code point, as SciPy counts.
func characters(kind storage, c *cursor, data []byte, n int64) ([]rune, error) {
	var chars []rune
	switch kind {
	case miUTF8, miInt8, miUint8:
		if !utf8.Valid(data) {
			return nil, errNotText
		}
		if chars = []rune(string(data)); int64(len(chars)) != n {
			chars = units(chars)
		}
	case miUTF16, miUint16:
		if len(data)%2 != 0 {
			return nil, errNotText
		}
		for ; len(data) > 0; data = data[2:] {
			chars = append(chars, rune(c.order.Uint16(data)))
		}
	case miUTF32:
		if len(data)%4 != 0 {
			return nil, errNotText
		}
		for ; len(data) > 0; data = data[4:] {
			chars = append(chars, rune(c.order.Uint32(data)))
		}
	default:
		return nil, fmt.Errorf("a text of type %d: damaged", kind)
	}
	if int64(len(chars)) != n {
		return nil, fmt.Errorf("%d characters, the size says %d: damaged", len(chars), n)
	}
	return chars, nil
}

// units splits code points into UTF-16 units.
func units(text []rune) []rune {
	var split []rune
	for _, u := range utf16.Encode(text) {
		split = append(split, rune(u))
	}
	return split
}

// rowsOf takes the rows out of a column-major matrix of characters.
func rowsOf(chars []rune, rows, columns int) ([]string, error) {
	texts := make([]string, rows)
	line := make([]rune, 0, columns)
	for i := range texts {
		line = line[:0]
		for j := range columns {
			line = append(line, chars[j*rows+i])
		}
		var err error
		if texts[i], err = joined(line); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// joined makes a string, pairing UTF-16 surrogates.
func joined(line []rune) (string, error) {
	text := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		r := line[i]
		if utf16.IsSurrogate(r) && i+1 < len(line) {
			i++
			r = utf16.DecodeRune(r, line[i])
			if r == utf8.RuneError {
				return "", errNotText
			}
		}
		if !utf8.ValidRune(r) {
			return "", errNotText
		}
		text = utf8.AppendRune(text, r)
	}
	return string(text), nil
}
