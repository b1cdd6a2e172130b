// Command sbom prints what an unpacked archive contains, as CycloneDX JSON: the Go
// modules of the program, as the linker recorded them, the decoders that are built in, and
// the libraries and the network beside it with their hashes.
//
// It runs in the root of the repository.
//
//	sbom FOLDER VERSION OS/PROCESSOR
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/libraries"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom FOLDER VERSION OS/PROCESSOR")
		os.Exit(2)
	}
	text, err := describe(os.Args[1], os.Args[2], os.Args[3])
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// A bill is a CycloneDX document.
type bill struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`
	PURL    string `json:"purl"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

func library(name, version, purl string) component {
	return component{Type: "library", Ref: purl, Name: name, Version: version, PURL: purl}
}

func describe(root, version, platform string) ([]byte, error) {
	program := filepath.Join(root, "pipeline")
	if strings.HasPrefix(platform, "windows/") {
		program += ".exe"
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	itself := library("pipeline", version, "pkg:golang/"+info.Main.Path+"@v"+version)
	itself.Type = "application"
	if itself.Hashes, err = hashes(program); err != nil {
		return nil, err
	}
	beside, err := shipped(root, platform)
	if err != nil {
		return nil, err
	}
	network, err := backbone.Lookup(backbone.OfNewModels)
	if err != nil {
		return nil, err
	}
	p := network.Package
	beside = append(beside, library(p.Name, p.Version, "pkg:pypi/"+p.Name+"@"+p.Version)) // it is in the program
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	all := []component{library("std", goVersion, "pkg:golang/std@"+goVersion)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, library(m.Path, m.Version, "pkg:golang/"+m.Path+"@"+m.Version))
	}
	all = append(all, beside...)
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.PURL, b.PURL) })
	seconds, _ := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	text, err := json.MarshalIndent(bill{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   metadata{time.Unix(seconds, 0).UTC().Format(time.RFC3339), itself},
		Components: all,
	}, "", "  ")
	return append(text, '\n'), err
}

// shipped returns the libraries that are packed with the program. It is an error if the
// origin of one is unknown.
func shipped(root, platform string) (all []component, err error) {
	files, err := filepath.Glob(filepath.Join(root, "lib", "*"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		c, err := origin(filepath.Base(file), platform)
		if err != nil {
			return nil, err
		}
		if c.Hashes, err = hashes(file); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func origin(file, platform string) (component, error) {
	for _, l := range append(libraries.Pictures(), libraries.ONNXRuntime()) {
		if a, ok := l.For(platform); ok && slices.ContainsFunc(a.Contents,
			func(f libraries.File) bool { return f.Name == file }) {
			return library(l.Package, l.Version, l.URL()), nil
		}
	}
	prefixes := map[string]string{"libstdc++.so.6": "libstdc++6_", "libgcc_s.so.1": "libgcc-s1_"}
	_, arch, _ := strings.Cut(platform, "/")
	return debianPackage(prefixes[file], arch, file)
}

// debianPackage finds the package of a file among those pinned.
func debianPackage(prefix, arch, file string) (component, error) {
	pinned, err := os.ReadFile("scripts/dist/debian.sha256")
	if err != nil {
		return component{}, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(pinned)); prefix != "" && lines.Scan(); {
		_, name, _ := strings.Cut(lines.Text(), "  ")
		if version, ok := strings.CutSuffix(strings.TrimPrefix(name, prefix), "_"+arch+".deb"); ok &&
			strings.HasPrefix(name, prefix) {
			name = strings.TrimSuffix(prefix, "_")
			return library(name, version, "pkg:deb/debian/"+strings.ReplaceAll(name, "+", "%2B")+"@"+version+"?arch="+
				arch), nil
		}
	}
	return component{}, errors.New(file + " is of unknown origin")
}

func hashes(file string) ([]hash, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	return []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, nil
}
