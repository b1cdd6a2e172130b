package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// unigram is the model of SentencePiece's language model: of all ways to split a word, it
// takes that of the highest sum of scores (Kudo 2018; Viterbi).
type unigram struct {
	ids     map[string]int32
	names   prefixes
	scores  []float64 // by id
	unknown *int32
	bytes   bool
	// without is the score of a character that is no token.
	without float64
}

// unknownPenalty is how much worse an unknown character is than the worst token.
const unknownPenalty = 10

// A scored token is ["token", score] in a file.
type scored struct {
	token string
	score float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *scored) UnmarshalJSON(data []byte) error {
	two := []any{&s.token, &s.score}
	if err := json.Unmarshal(data, &two); err != nil {
		return err
	}
	if len(two) != 2 || math.IsNaN(s.score) || math.IsInf(s.score, 0) {
		return fmt.Errorf("%s is not a token with its score", data)
	}
	return nil
}

func readUnigram(part json.RawMessage) (model, error) {
	var f struct {
		Unknown *int64   `json:"unk_id"`
		Vocab   []scored `json:"vocab"`
		Bytes   bool     `json:"byte_fallback"`
	}
	if err := json.Unmarshal(part, &f); err != nil {
		return nil, err
	}
	switch n := int64(len(f.Vocab)); {
	case n == 0 || n > maxTokens:
		return nil, fmt.Errorf("%d tokens: not in 1…%d", n, maxTokens)
	case f.Unknown == nil:
		return nil, errors.New("unk_id is missing")
	case *f.Unknown < 0 || *f.Unknown >= n:
		return nil, fmt.Errorf("unk_id is %d, but there are %d tokens", *f.Unknown, n)
	}
	unknown := int32(*f.Unknown)
	m := &unigram{ids: make(map[string]int32, len(f.Vocab)), unknown: &unknown, bytes: f.Bytes}
	least := math.Inf(1)
	var names []string
	for id, s := range f.Vocab {
		if err := checkLength(s.token); err != nil {
			return nil, err
		}
		m.ids[s.token], m.scores = int32(id), append(m.scores, s.score)
		names, least = append(names, s.token), min(least, s.score)
	}
	m.names, m.without = newPrefixes(names), least-unknownPenalty
	return m, nil
}

func (m *unigram) id(token string) (int32, bool) {
	id, ok := m.ids[token]
	return id, ok
}

// A step is the best way to the end of a token.
type step struct {
	start int // −1: none is known
	id    int32
	score float64
}

func (m *unigram) tokens(word string) []int32 {
	best := make([]step, len(word)+1)
	for i := range best {
		best[i].start = -1
	}
	reach := func(start, length int, id int32, score float64) {
		to, score := &best[start+length], score+best[start].score
		if to.start < 0 || score > to.score {
			*to = step{start, id, score}
		}
	}
	for start, r := range word {
		alone := false // the character is a token
		m.names.of(word[start:], func(n int) {
			id := m.ids[word[start:start+n]]
			reach(start, n, id, m.scores[id])
			alone = alone || n == utf8.RuneLen(r)
		})
		if !alone {
			reach(start, utf8.RuneLen(r), *m.unknown, m.without)
		}
	}
	return m.along(word, best)
}

// along returns the tokens of the best way, with unknown characters side by side as one.
func (m *unigram) along(word string, best []step) []int32 {
	var parts []string // from the last to the first
	for end := len(word); end > 0; {
		s := best[end]
		start := s.start
		for s.id == *m.unknown && start > 0 && best[start].id == *m.unknown {
			start = best[start].start
		}
		parts = append(parts, word[start:end])
		end = start
	}
	var ids []int32
	for _, part := range slices.Backward(parts) {
		id, ok := m.ids[part]
		each, byBytes := []int32(nil), false
		if !ok && m.bytes {
			each, byBytes = byteTokens(part, m.id)
		}
		switch {
		case ok:
			ids = append(ids, id)
		case byBytes:
			ids = append(ids, each...)
		default:
			ids = append(ids, *m.unknown)
		}
	}
	return ids
}
