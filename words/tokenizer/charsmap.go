package tokenizer

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"

	"github.com/rivo/uniseg"
)

// A charsmap is SentencePiece's table of what to write for characters: a double-array
// trie (Aoe 1989, as Darts-clone stores it) of where each replacement begins among texts
// that end with a zero.
type charsmap struct {
	units []uint32
	texts []byte
}

func readPrecompiled(part json.RawMessage) (normalizer, error) {
	var p struct {
		Charsmap []byte `json:"precompiled_charsmap"` // in base64
	}
	if err := json.Unmarshal(part, &p); err != nil {
		return nil, err
	}
	if len(p.Charsmap) == 0 {
		return same, nil
	}
	if len(p.Charsmap) < 4 {
		return nil, errors.New("the precompiled_charsmap is damaged")
	}
	n, rest := binary.LittleEndian.Uint32(p.Charsmap), p.Charsmap[4:]
	if n == 0 || n%4 != 0 || uint64(n) > uint64(len(rest)) {
		return nil, errors.New("the precompiled_charsmap is damaged")
	}
	c := charsmap{make([]uint32, n/4), rest[n:]}
	for i := range c.units {
		c.units[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	return c.normalize, nil
}

// shortGrapheme bounds the bytes of what is looked up as a whole.
const shortGrapheme = 6

// normalize looks up what a person sees as one character, if it is short, and otherwise
// the characters of which it consists.
func (c charsmap) normalize(text string) string {
	var out strings.Builder
	state := -1
	for text != "" {
		var grapheme string
		grapheme, text, _, state = uniseg.FirstGraphemeClusterInString(text, state)
		if len(grapheme) < shortGrapheme {
			if written, ok := c.replacement(grapheme); ok {
				out.WriteString(written)
				continue
			}
		}
		for _, r := range grapheme {
			if written, ok := c.replacement(string(r)); ok {
				out.WriteString(written)
			} else {
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}

// replacement returns what stands for the shortest beginning of a text that is in the
// table, as if it were that of the whole: that is what the tokenizers were trained with.
func (c charsmap) replacement(text string) (string, bool) {
	at := offset(c.units[0])
	for _, b := range []byte(text) {
		if at ^= uint32(b); b == 0 || at >= uint32(len(c.units)) {
			return "", false
		}
		const isLabel, hasLeaf = 1<<31 | 0xFF, 1 << 8
		unit := c.units[at]
		if unit&isLabel != uint32(b) {
			return "", false
		}
		if at ^= offset(unit); at >= uint32(len(c.units)) {
			return "", false
		}
		if unit&hasLeaf != 0 {
			return c.textAt(c.units[at] &^ (1 << 31))
		}
	}
	return "", false
}

func (c charsmap) textAt(start uint32) (string, bool) {
	if start >= uint32(len(c.texts)) {
		return "", false
	}
	text, _, ok := bytes.Cut(c.texts[start:], []byte{0})
	return string(text), ok
}

// offset returns where the children of a unit are, relative to it.
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
