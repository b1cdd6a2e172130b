package tokenizer

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MaxText is the number of bytes of a text that are read; networks read far less.
const MaxText = 1 << 14

// A Tokenizer is a tokenizer.json that was read. It is read-only and safe for concurrent
// use.
type Tokenizer struct {
	added     added
	normalize normalizer
	split     splitter
	model     model
	frame     frame
	sha256    string
}

// A model splits a word into tokens.
type model interface {
	// tokens returns the ids of a word that is not empty.
	tokens(word string) []int32
	// id returns that of a token.
	id(token string) (id int32, ok bool)
}

// SHA256 returns the hex digest of the file.
func (t *Tokenizer) SHA256() string { return t.sha256 }

// Length returns the number of tokens that the files say a text has at most, start and
// end included; 0 if it does not say.
func (t *Tokenizer) Length() int { return t.frame.length }

// Fixed reports whether the file says that shorter texts are padded to Length.
func (t *Tokenizer) Fixed() bool { return t.frame.fixed }

// Pad returns the token that fills a text up to a length: the one that the file says, the
// one called <pad> or [PAD], else the last one that is added to every text; 0 without any.
func (t *Tokenizer) Pad() int32 {
	if t.frame.pad != nil {
		return *t.frame.pad
	}
	for _, name := range []string{"<pad>", "[PAD]"} {
		if id, ok := t.ID(name); ok {
			return id
		}
	}
	if n := len(t.frame.after); n > 0 {
		return t.frame.after[n-1]
	}
	return 0
}

// ID returns the id of a token.
func (t *Tokenizer) ID(token string) (int32, bool) {
	if id, ok := t.added.id(token); ok {
		return id, true
	}
	return t.model.id(token)
}

// Encode returns the ids of a text, with the start and end tokens, but at most length of
// them: a longer text loses its end, not the end token. Length 0 is no bound. Bytes that
// are not UTF-8 count as U+FFFD, and those after MaxText are not read.
func (t *Tokenizer) Encode(text string, length int) []int32 {
	text = strings.ToValidUTF8(text[:min(len(text), MaxText)], "\uFFFD")
	var ids []int32
	for _, section := range t.added.sections(text, t.normalize) {
		if section.token {
			ids = append(ids, section.id)
			continue
		}
		for _, piece := range t.split(section.text) {
			if piece != "" {
				ids = append(ids, t.model.tokens(piece)...)
			}
		}
	}
	return t.frame.around(ids, length)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
