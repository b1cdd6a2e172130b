package tokenizer

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// bpe is the model of byte-pair encoding: a word begins as its characters, and the pair
// that comes first in the list of merges is joined until there is none.
type bpe struct {
	vocab          map[string]int32
	merges         map[[2]int32]merge
	prefix, suffix string // of characters inside, and at the end, of a word
	unknown        *int32
	fuse           bool // unknown characters side by side are one token
	bytes          bool // unknown characters are the tokens of their bytes
	ignoreMerges   bool // words that are tokens are not split first
}

// A merge joins two tokens to another; that of the lowest rank comes first.
type merge struct{ rank, id int32 }

// A mergePair is a merge in a file: "a b", or ["a", "b"].
type mergePair [2]string

// UnmarshalJSON implements json.Unmarshaler.
func (p *mergePair) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		a, b, ok := strings.Cut(text, " ")
		if *p = (mergePair{a, b}); !ok || strings.Contains(b, " ") {
			return fmt.Errorf("the merge %q is not of two tokens", text)
		}
		return nil
	}
	var two []string
	if err := json.Unmarshal(data, &two); err != nil {
		return err
	}
	if len(two) != 2 {
		return fmt.Errorf("the merge %q is not of two tokens", two)
	}
	*p = mergePair(two)
	return nil
}

func readBPE(part json.RawMessage) (model, error) {
	var f struct {
		Dropout      *float64         `json:"dropout"`
		Unknown      *string          `json:"unk_token"`
		Prefix       string           `json:"continuing_subword_prefix"`
		Suffix       string           `json:"end_of_word_suffix"`
		Fuse         bool             `json:"fuse_unk"`
		Bytes        bool             `json:"byte_fallback"`
		IgnoreMerges bool             `json:"ignore_merges"`
		Vocab        map[string]int64 `json:"vocab"`
		Merges       []mergePair      `json:"merges"`
	}
	if err := json.Unmarshal(part, &f); err != nil {
		return nil, err
	}
	switch {
	case f.Dropout != nil && *f.Dropout != 0:
		return nil, errors.New("dropout is for training: set it to null")
	case len(f.Vocab) > maxTokens || len(f.Merges) > maxMerges:
		return nil, fmt.Errorf("%d tokens and %d merges: at most %d and %d", len(f.Vocab), len(f.Merges), maxTokens,
			maxMerges)
	}
	m := &bpe{vocab: make(map[string]int32, len(f.Vocab)), merges: make(map[[2]int32]merge, len(f.Merges)),
		prefix: f.Prefix, suffix: f.Suffix, fuse: f.Fuse, bytes: f.Bytes, ignoreMerges: f.IgnoreMerges}
	for token, id := range f.Vocab {
		if err := checkID(id, token); err != nil {
			return nil, err
		}
		m.vocab[token] = int32(id)
	}
	if f.Unknown != nil {
		id, ok := m.vocab[*f.Unknown]
		if !ok {
			return nil, fmt.Errorf("unk_token %q is not in the vocabulary", *f.Unknown)
		}
		m.unknown = &id
	}
	return m, m.addMerges(f.Merges)
}

func (m *bpe) addMerges(pairs []mergePair) error {
	for rank, p := range pairs {
		a, okA := m.vocab[p[0]]
		b, okB := m.vocab[p[1]]
		if !okA || !okB || len(p[1]) < len(m.prefix) {
			return fmt.Errorf("merge %d, of %q and %q: one of them is not in the vocabulary", rank+1, p[0], p[1])
		}
		id, ok := m.vocab[p[0]+p[1][len(m.prefix):]]
		if !ok {
			return fmt.Errorf("merge %d, of %q and %q: the result is not in the vocabulary", rank+1, p[0], p[1])
		}
		m.merges[[2]int32{a, b}] = merge{int32(rank), id}
	}
	return nil
}

func (m *bpe) id(token string) (int32, bool) {
	id, ok := m.vocab[token]
	return id, ok
}

func (m *bpe) tokens(word string) []int32 {
	if id, ok := m.vocab[word]; ok && m.ignoreMerges {
		return []int32{id}
	}
	return m.join(m.characters(word))
}

// characters returns the tokens that a word begins as.
func (m *bpe) characters(word string) []int32 {
	var ids []int32
	unknown := false // the characters before, as far as they are one token that is not added yet
	for i, r := range word {
		s := string(r)
		if i > 0 {
			s = m.prefix + s
		}
		if i+len(string(r)) == len(word) {
			s += m.suffix
		}
		if id, ok := m.vocab[s]; ok {
			if unknown {
				ids, unknown = append(ids, *m.unknown), false
			}
			ids = append(ids, id)
		} else if each, ok := m.byBytes(s); ok {
			ids = append(ids, each...)
		} else if m.unknown != nil {
			if unknown && !m.fuse {
				ids = append(ids, *m.unknown)
			}
			unknown = true
		}
	}
	if unknown {
		ids = append(ids, *m.unknown)
	}
	return ids
}

// byBytes returns the tokens of the bytes of a text, if the file wants and has them.
func (m *bpe) byBytes(text string) ([]int32, bool) {
	if !m.bytes {
		return nil, false
	}
	return byteTokens(text, m.id)
}

// byteTokens returns the tokens <0x00> to <0xFF> of the bytes of a text.
func byteTokens(text string, find func(token string) (int32, bool)) (ids []int32, ok bool) {
	for _, b := range []byte(text) {
		id, ok := find(fmt.Sprintf("<0x%02X>", b))
		if !ok {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}

// A chain is a word while its tokens are joined: a list in which each knows its
// neighbours.
type chain struct {
	ids            []int32
	before, behind []int // −1: none
	gone           []bool
	open           candidates
	merges         map[[2]int32]merge
}

// join applies the merges to the tokens of a word of n characters. O(n log n).
func (m *bpe) join(ids []int32) []int32 {
	if len(ids) < 2 {
		return ids
	}
	c := chain{ids: ids, merges: m.merges, gone: make([]bool, len(ids))}
	for i := range ids {
		c.before, c.behind = append(c.before, i-1), append(c.behind, i+1)
	}
	c.behind[len(ids)-1] = -1
	for i := range ids[1:] {
		c.consider(i)
	}
	for len(c.open) > 0 {
		c.apply(heap.Pop(&c.open).(candidate))
	}
	var out []int32
	for i := 0; i >= 0; i = c.behind[i] {
		out = append(out, c.ids[i])
	}
	return out
}

// consider makes a candidate of the token at a position and its right neighbour.
func (c *chain) consider(at int) {
	if m, ok := c.merges[[2]int32{c.ids[at], c.ids[c.behind[at]]}]; ok {
		heap.Push(&c.open, candidate{m, at})
	}
}

func (c *chain) apply(next candidate) {
	at := next.at
	right := c.behind[at]
	if c.gone[at] || right < 0 {
		return
	}
	if m, ok := c.merges[[2]int32{c.ids[at], c.ids[right]}]; !ok || m.id != next.id {
		return // one of the two has been joined to another since
	}
	c.ids[at], c.gone[right] = next.id, true
	if c.behind[at] = c.behind[right]; c.behind[at] >= 0 {
		c.before[c.behind[at]] = at
		c.consider(at)
	}
	if c.before[at] >= 0 {
		c.consider(c.before[at])
	}
}

// A candidate is a merge at a position.
type candidate struct {
	merge
	at int
}

// candidates is a heap: the lowest rank first, and of those the leftmost.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	if c[i].rank != c[j].rank {
		return c[i].rank < c[j].rank
	}
	return c[i].at < c[j].at
}

// Push implements heap.Interface.
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }

// Pop implements heap.Interface.
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
