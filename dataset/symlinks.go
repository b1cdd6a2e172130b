package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Symlinks is a scan's policy for symbolic links.
type Symlinks string

// The policies.
const (
	// FollowLinks takes linked files and enters each linked folder once.
	FollowLinks Symlinks = "follow"
	// FollowFiles takes linked files and skips linked folders.
	FollowFiles Symlinks = "files"
	// SkipLinks skips all links.
	SkipLinks Symlinks = "skip"
)

// Validate rejects unknown policies and lists the valid ones; "" means
// FollowLinks.
func (s Symlinks) Validate() error {
	all := []string{string(FollowLinks), string(FollowFiles), string(SkipLinks)}
	if s != "" && !slices.Contains(all, string(s)) {
		return fmt.Errorf("symlinks: %q is not one of %s", string(s), strings.Join(all, ", "))
	}
	return nil
}
