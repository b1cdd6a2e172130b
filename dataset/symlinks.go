package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
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

// LinkPolicies lists them.
func LinkPolicies() []string {
	return []string{string(FollowLinks), string(FollowFiles), string(SkipLinks)}
}

// Validate rejects unknown policies and lists the valid ones; "" means
// FollowLinks.
func (s Symlinks) Validate() error {
	all := LinkPolicies()
	if s != "" && !slices.Contains(all, string(s)) {
		return fmt.Errorf("symlinks: %q is not one of %s", string(s), strings.Join(all, ", "))
	}
	return nil
}

// follow treats a link as its target.
func (s *scanner) follow(parent *folder, found *entry) {
	rel := found.rel
	info, err := os.Stat(s.full(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		found.err = fmt.Errorf("%s: broken symbolic link: what it points to does not exist", rel)
	case errors.Is(err, syscall.ELOOP):
		found.err = fmt.Errorf("%s: symbolic link loop: it leads back to itself", rel)
	case err != nil:
		found.err = fmt.Errorf("follow symbolic link %s: %w", rel, regularfile.Cause(err))
	case info.IsDir() && s.opts.Symlinks == FollowFiles:
		found.skip = "link"
	case info.IsDir():
		s.inside(parent, found, info)
	case info.Mode().IsRegular():
		found.file = true
	default:
		found.skip = "special"
	}
}
