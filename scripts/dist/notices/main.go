// Command notices copies the licences of all modules in a Go program into a folder,
// one text file per module, and fails for a module without any. A module's licences are
// those at its top, in folders of licences there, and in the folders of its packages that
// are in the program, since a package may have come from elsewhere.
//
//	notices PACKAGE FOLDER OS/PROCESSOR
package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFile matches names such as LICENSE, LICENCE.md, COPYING and NOTICE.txt,
// licenceFolder those such as licenses and THIRD_PARTY_LICENSES.
var (
	licenceFile   = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)([-.].*)?$`)
	licenceFolder = regexp.MustCompile(`(?i)licen[cs]es?$`)
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: notices PACKAGE FOLDER OS/PROCESSOR")
		os.Exit(2)
	}
	if err := collect(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func collect(program, folder, platform string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	top := strings.TrimSpace(string(root))
	if err := write(folder, "go", top, []string{top}); err != nil {
		return err
	}
	const each = `{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}	{{.Dir}}	{{$.Dir}}{{end}}{{end}}`
	system, processor, _ := strings.Cut(platform, "/")
	list := exec.Command("go", "list", "-deps", "-f", each, program)
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=1")
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	type module struct{ name, top string }
	packages := map[module][]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
			m := module{f[0], f[1]}
			packages[m] = append(packages[m], f[2])
		}
	}
	for m, dirs := range packages {
		if err := write(folder, strings.ReplaceAll(m.name, "/", "_"), m.top, dirs); err != nil {
			return err
		}
	}
	return nil
}

// write joins the licence files of a module, of which some packages are used.
func write(folder, name, top string, packages []string) error {
	files, err := licences(top, packages)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no licence in %s", name, top)
	}
	var all bytes.Buffer
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(top, f))
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "%s\n\n%s\n", filepath.ToSlash(f), text)
	}
	return os.WriteFile(filepath.Join(folder, name+".txt"), all.Bytes(), 0o644)
}

// licences returns the paths of a module's licences below its top, in their order.
func licences(top string, packages []string) (files []string, err error) {
	places := map[string]bool{".": true}
	for _, dir := range packages {
		place, err := filepath.Rel(top, dir)
		if err != nil {
			return nil, err
		}
		for ; place != "."; place = filepath.Dir(place) {
			places[place] = true
		}
	}
	for _, place := range slices.Sorted(maps.Keys(places)) {
		entries, err := os.ReadDir(filepath.Join(top, place))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			path := filepath.Join(place, e.Name())
			switch {
			case !e.IsDir() && licenceFile.MatchString(e.Name()):
				files = append(files, path)
			case e.IsDir() && place == "." && licenceFolder.MatchString(e.Name()):
				inside, err := filepath.Glob(filepath.Join(top, path, "*"))
				if err != nil {
					return nil, err
				}
				for _, f := range inside {
					files = append(files, filepath.Join(path, filepath.Base(f)))
				}
			}
		}
	}
	return files, nil
}
