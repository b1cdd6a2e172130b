package dataset

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// escapedSemicolon is how a semicolon in a label is written, and what looks like that.
var escapedSemicolon = regexp.MustCompile(`%((?:25)*3B)`)

// JoinLabels returns labels as one cell, sorted and separated by semicolons. A semicolon in a
// label is written as %3B, and %3B as %253B, so that SplitLabels finds the same labels again.
func JoinLabels(labels ...string) string {
	sorted := make([]string, len(labels))
	for i, l := range labels {
		sorted[i] = strings.ReplaceAll(escapedSemicolon.ReplaceAllString(l, "%25$1"), ";", "%3B")
	}
	slices.Sort(sorted)
	return strings.Join(sorted, ";")
}

// SplitLabels is the inverse of JoinLabels; empty labels are left out.
func SplitLabels(cell string) (labels []string) {
	for part := range strings.SplitSeq(cell, ";") {
		if part == "" {
			continue
		}
		labels = append(labels, escapedSemicolon.ReplaceAllStringFunc(part, func(code string) string {
			if code == "%3B" {
				return ";"
			}
			return "%" + code[len("%25"):]
		}))
	}
	return labels
}

// severalIn returns the labels of a cell in which Label Studio writes several:
// {"choices": ["a", "b"]}, none of them for a photo that was set aside, or of a taxonomy:
// [["Animal", "Fox"]]; nil if it is another.
func severalIn(cell string, from ClassFrom) []string {
	if strings.HasPrefix(cell, "[[") {
		var paths [][]string
		if json.Unmarshal([]byte(cell), &paths) != nil {
			return nil
		}
		return taxa(paths, from)
	}
	if !strings.HasPrefix(cell, `{"choices"`) {
		return nil
	}
	var c struct {
		Choices []string `json:"choices"`
	}
	if json.Unmarshal([]byte(cell), &c) != nil {
		return nil
	}
	return append([]string{}, c.Choices...)
}

// severalCell writes labels as a cell: one as it is, several so that severalIn finds them.
func severalCell(labels []string) string {
	switch len(labels) {
	case 0:
		return ""
	case 1:
		return labels[0]
	}
	text, _ := json.Marshal(map[string]any{"choices": labels}) // strings always can
	return string(text)
}

// asideCell is the cell of a photo that was set aside, as severalIn finds it.
const asideCell = `{"choices":[]}`
