// Package configs builds the configurations of this folder into the program,
// so that an installed binary runs them by their names.
package configs

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Named returns the configuration of a name (without .yaml), and all names,
// sorted. The error is fs.ErrNotExist where there is none of that name.
func Named(name string) (text []byte, names []string, err error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	text, err = files.ReadFile(name + ".yaml")
	if errors.Is(err, fs.ErrInvalid) { // a name that cannot be one, such as ""
		err = fs.ErrNotExist
	}
	return text, names, err
}
