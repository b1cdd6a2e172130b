// Package configs embeds the configurations of this folder into the program, so
// that they can be used by name without their files.
//
// It is for this module's own packages.
package configs

import (
	"embed"
	"errors"
	"io/fs"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Named returns the configuration with the given name (without .yaml), and all
// names, sorted. The error is fs.ErrNotExist if there is none of that name.
func Named(name string) (text []byte, names []string, err error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	text, err = files.ReadFile(name + ".yaml")
	if errors.Is(err, fs.ErrInvalid) { // not a valid file name, such as ""
		err = fs.ErrNotExist
	}
	return text, names, err
}
