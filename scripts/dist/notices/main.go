// Command notices copies the licences of all modules in a Go program into a folder,
// one text file per module, and fails for a module without any.
//
//	notices PACKAGE FOLDER
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// licenceFile matches names such as LICENSE, LICENCE.md, COPYING and NOTICE.txt.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)([-.].*)?$`)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: notices PACKAGE FOLDER")
		os.Exit(2)
	}
	if err := collect(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func collect(program, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	if err := write(folder, "go", strings.TrimSpace(string(root))); err != nil {
		return err
	}
	const each = `{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", each, program).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	done := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		module, dir, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found || done[module] {
			continue
		}
		done[module] = true
		if err := write(folder, strings.ReplaceAll(module, "/", "_"), dir); err != nil {
			return err
		}
	}
	return nil
}

// write joins the licence files of a module.
func write(folder, name, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&all, "%s\n\n%s\n", f.Name(), text)
	}
	if all.Len() == 0 {
		return fmt.Errorf("%s has no licence in %s", name, dir)
	}
	return os.WriteFile(filepath.Join(folder, name+".txt"), all.Bytes(), 0o644)
}
