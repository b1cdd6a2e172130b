package dataset

import (
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A Filter selects files of a folder or list. The zero Filter selects all of
// them.
type Filter struct {
	// Include and Exclude are glob patterns: "*" stays inside a folder, "**"
	// crosses folders, {a,b} is either. A pattern with a slash is matched
	// against the whole path, one without against each part of it: "*.png",
	// "2024/**", "thumbnails". A file is taken when Include is empty or
	// matches, and Exclude does not match it.
	Include, Exclude []string
	// DropLabels are classes whose images are left out.
	DropLabels []string
	// Shard selects one part of the files.
	Shard Shard
}

// Validate returns an error that names a malformed pattern.
func (f Filter) Validate() error {
	for _, pattern := range slices.Concat(f.Include, f.Exclude) {
		if pattern == "" || !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("malformed glob pattern %q; examples are *.jpg, 2024/**, **/{cat,dog}/*", pattern)
		}
	}
	return f.Shard.Validate()
}

func (f Filter) wanted(rel string) bool {
	return (len(f.Include) == 0 || matchesAny(f.Include, rel)) && !matchesAny(f.Exclude, rel)
}

func matchesAny(patterns []string, rel string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, rel) })
}

func matches(pattern, rel string) bool {
	if strings.Contains(pattern, "/") {
		return doublestar.MatchUnvalidated(strings.TrimPrefix(pattern, "/"), rel)
	}
	for part := range strings.SplitSeq(rel, "/") {
		if doublestar.MatchUnvalidated(pattern, part) {
			return true
		}
	}
	return false
}

// A Shard is part I of N, counted from 1; the zero Shard is everything. A
// file's part depends on its path alone, so adding or removing files moves no
// others.
type Shard struct{ I, N int }

// ParseShard reads "i/n"; "" is everything.
func ParseShard(text string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	i, n, _ := strings.Cut(text, "/")
	var s Shard
	var errI, errN error
	s.I, errI = strconv.Atoi(i)
	s.N, errN = strconv.Atoi(n)
	if errI != nil || errN != nil || s.N < 1 || s.Validate() != nil {
		return Shard{}, fmt.Errorf("shard %q: want i/n with 1 ≤ i ≤ n, for example 2/8", text)
	}
	return s, nil
}

// Validate checks 1 ≤ I ≤ N.
func (s Shard) Validate() error {
	if s != (Shard{}) && (s.I < 1 || s.I > s.N) {
		return fmt.Errorf("shard %d/%d: want i/n with 1 ≤ i ≤ n", s.I, s.N)
	}
	return nil
}

// Name returns the folder name for the shard's results, "shard-2-of-8"; "" for
// everything.
func (s Shard) Name() string {
	if s.N == 0 {
		return ""
	}
	return fmt.Sprintf("shard-%d-of-%d", s.I, s.N)
}

// holds reports whether a path is in the shard.
func (s Shard) holds(rel string) bool {
	if s.N <= 1 {
		return true
	}
	h := fnv.New64a()
	h.Write([]byte(path.Clean(rel)))
	// FNV's low bits alone are weak.
	mixed := h.Sum64()
	mixed ^= mixed >> 32
	mixed *= 0x9e3779b97f4a7c15
	return int((mixed>>33)%uint64(s.N)) == s.I-1
}

// Keep applies the filter to a listing that was read from a list: samples that
// do not match count as skipped "filtered" or "dropped"; those of other shards
// are dropped silently.
func (l *Listing) Keep(f Filter) error {
	if err := f.Validate(); err != nil {
		return err
	}
	l.Samples = slices.DeleteFunc(l.Samples, func(s Sample) bool { return !f.Takes(s, l.Skipped) })
	l.Problems = slices.DeleteFunc(l.Problems, func(p Problem) bool { return !f.Shard.holds(p.Path) })
	return nil
}

// Takes reports whether a sample passes the filter, and otherwise counts it by
// the reason in skipped, unless it belongs to another shard.
func (f Filter) Takes(s Sample, skipped map[string]int) bool {
	switch {
	case !f.Shard.holds(s.Path):
	case !f.wanted(s.Path):
		skipped["filtered"]++
	case f.drops(s):
		skipped["dropped"]++
	default:
		return true
	}
	return false
}

func (f Filter) drops(s Sample) bool {
	return s.Label != "" && slices.ContainsFunc(f.DropLabels, func(drop string) bool {
		return spelled(drop) == spelled(s.Label)
	})
}
