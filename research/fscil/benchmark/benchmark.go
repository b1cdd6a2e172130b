// Package benchmark downloads the published index lists of the few-shot
// class-incremental benchmarks from a pinned commit and checks every file
// against its SHA-256. The images have separate terms of use; users provide
// them.
package benchmark

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

//go:embed lists.yaml
var listsYAML []byte

// maxListBytes bounds a list; the longest list is 1.6 MB.
const maxListBytes = 16 << 20

const listTime = time.Minute

// Lists is one benchmark's folder of index lists.
type Lists struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	// Address is the folder's; it ends with a slash.
	Address string `yaml:"address"`
	Licence string `yaml:"licence"`
	// Files holds the SHA-256 of every file, in hexadecimal.
	Files map[string]string `yaml:"files"`
}

// All returns every benchmark, in the order of lists.yaml. It fails only in a
// broken build.
func All() ([]Lists, error) {
	return decode[Lists]("lists", listsYAML)
}

func decode[T any](what string, text []byte) (all []T, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("catalogue of %s: %w", what, err)
	}
	return all, nil
}

// Find returns the lists with that name; the error lists all names.
func Find(name string) (Lists, error) {
	all, err := All()
	if err != nil {
		return Lists{}, err
	}
	var names []string
	for _, l := range all {
		if l.Name == name {
			return l, nil
		}
		names = append(names, l.Name)
	}
	return Lists{}, fmt.Errorf("unknown lists %q; the lists are %s", name, strings.Join(names, ", "))
}

// Dir returns the folder of the lists below a folder of data sets.
func (l Lists) Dir(datasets string) string { return filepath.Join(datasets, l.Name+"-lists") }

// Pulled reports whether dir holds all files unaltered.
func (l Lists) Pulled(dir string) bool {
	for name := range l.Files {
		if !l.has(dir, name) {
			return false
		}
	}
	return true
}

func (l Lists) has(dir, name string) bool {
	text, err := regularfile.Read(filepath.Join(dir, name), maxListBytes)
	return err == nil && l.verify(name, text) == nil
}

func (l Lists) verify(name string, text []byte) error {
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != l.Files[name] {
		return fmt.Errorf("%s has the SHA-256 %s, not %s: refused", name, got, l.Files[name])
	}
	return nil
}

// Pull downloads the files that dir lacks, so an interrupted pull resumes where
// it stopped. A file appears only if its hash is correct. client may be nil;
// the rules of download.Client hold.
func (l Lists) Pull(ctx context.Context, dir string, client *http.Client) error {
	client = download.Client(client)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("pull lists %s: %w", l.Name, err)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		if l.has(dir, name) {
			continue
		}
		text, err := l.download(ctx, name, client)
		if err != nil {
			return fmt.Errorf("pull lists %s: %w; without a connection, download the files of %s elsewhere and copy "+
				"them to %s (their SHA-256 is checked)", l.Name, err, l.Address, dir)
		}
		if err := atomicfile.WriteFile(filepath.Join(dir, name), text); err != nil {
			return fmt.Errorf("pull lists %s: %w", l.Name,
				download.Full(err, dir, int64(len(text)), download.OtherCache))
		}
	}
	return nil
}

func (l Lists) download(ctx context.Context, name string, client *http.Client) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.Address+name, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server answered %s", l.Address+name, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxListBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w; run it again to go on", l.Address+name, err)
	}
	if len(text) > maxListBytes {
		return nil, fmt.Errorf("%s is longer than %d bytes: refused", l.Address+name, maxListBytes)
	}
	return text, l.verify(name, text)
}
