package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Symlinks says what a scan does with symbolic links.
type Symlinks string

// The policies.
const (
	// FollowLinks takes linked files, and enters a linked folder once.
	FollowLinks Symlinks = "follow"
	// FollowFiles takes linked files and passes linked folders by.
	FollowFiles Symlinks = "files"
	// SkipLinks passes all links by.
	SkipLinks Symlinks = "skip"
)

// Validate names the policies; "" means FollowLinks.
func (s Symlinks) Validate() error {
	all := []string{string(FollowLinks), string(FollowFiles), string(SkipLinks)}
	if s != "" && !slices.Contains(all, string(s)) {
		return fmt.Errorf("symlinks: %q is not one of %s", string(s), strings.Join(all, ", "))
	}
	return nil
}
