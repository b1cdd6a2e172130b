package fscil

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// Lists holds the lines of the official lists, before they are matched with
// images.
type Lists struct {
	sessions []listed
}

type listed struct{ train, test []string }

// A Namer turns a line of a training or test list into a sample.
type Namer func(line string, test bool) (Sample, error)

// ReadLists reads a folder of official lists: session_1.txt … session_S.txt
// with the training images of each session, and test_1.txt … test_S.txt with
// the test images of the classes it brings. A line is a path with forward
// slashes, or a number (CIFAR). Blank lines are ignored.
func ReadLists(dir string) (*Lists, error) {
	l := &Lists{}
	for n := 1; ; n++ {
		train, err := readLines(dir, fmt.Sprintf("session_%d.txt", n))
		if errors.Is(err, fs.ErrNotExist) && n > 1 {
			return l, nil
		}
		if err != nil {
			return nil, fmt.Errorf("lists: %w; the folder must hold session_1.txt … and test_1.txt …", err)
		}
		test, err := readLines(dir, fmt.Sprintf("test_%d.txt", n))
		if err != nil {
			return nil, fmt.Errorf("lists: %w; every session_N.txt needs its test_N.txt", err)
		}
		l.sessions = append(l.sessions, listed{train, test})
	}
}

// maxListBytes bounds a list; the longest published one has 1.6 MB.
const maxListBytes = 256 << 20

func readLines(dir, name string) ([]string, error) {
	text, err := regularfile.Read(filepath.Join(dir, name), maxListBytes)
	if err != nil {
		return nil, err
	}
	lines, err := parseLines(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
	}
	return lines, nil
}

// parseLines returns the non-blank lines. Each must be a number or a clean
// relative path.
func parseLines(text []byte) ([]string, error) {
	var lines []string
	scan := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if line == "" {
			continue
		}
		if path.IsAbs(line) || path.Clean(line) != line || line == ".." || strings.HasPrefix(line, "../") ||
			strings.ContainsRune(line, 0) {
			return nil, fmt.Errorf("line %d: %q is not a path below the image folder", n, line)
		}
		lines = append(lines, line)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("%w (is this a list of images?)", err)
	}
	if len(lines) == 0 {
		return nil, errors.New("is empty")
	}
	return lines, nil
}

// Numbered reports whether the lines are numbers, as those of CIFAR are.
func (l *Lists) Numbered() bool {
	_, err := strconv.ParseUint(l.sessions[0].train[0], 10, 32)
	return err == nil
}

// Protocol names every line and checks the result, as [New] does.
func (l *Lists) Protocol(name Namer) (*Protocol, error) {
	sessions := make([]Session, len(l.sessions))
	for i, s := range l.sessions {
		for _, part := range []struct {
			lines []string
			to    *[]Sample
			test  bool
			file  string
		}{{s.train, &sessions[i].Train, false, "session"}, {s.test, &sessions[i].Test, true, "test"}} {
			for _, line := range part.lines {
				sample, err := name(line, part.test)
				if err != nil {
					return nil, fmt.Errorf("%s_%d.txt: %w", part.file, i+1, err)
				}
				*part.to = append(*part.to, sample)
			}
		}
	}
	return given(sessions)
}

// Stripped returns a [Namer] for lines that are paths: it drops n leading
// folders and takes the file's folder as the class.
func Stripped(n int) Namer {
	return func(line string, _ bool) (Sample, error) {
		short, ok := strip(line, n)
		if !ok || path.Base(path.Dir(line)) == "." {
			return Sample{}, fmt.Errorf("%s: has no class folder, or fewer than %d leading folders to strip", line, n)
		}
		return Sample{Path: short, Class: dataset.EscapePath(path.Base(path.Dir(line)))}, nil
	}
}

func strip(line string, n int) (string, bool) {
	for range n {
		var ok bool
		if _, line, ok = strings.Cut(line, "/"); !ok {
			return "", false
		}
	}
	return line, true
}

// FindStrip returns how many leading folders must be stripped from the listed
// paths so that the images exist: the first number for which the first image of
// any list does. The error names the paths tried.
func (l *Lists) FindStrip(exists func(path string) bool) (int, error) {
	var tried []string
	first := l.sessions[0].train[0]
	for n := 0; ; n++ {
		short, ok := strip(first, n)
		if !ok {
			return 0, fmt.Errorf("missing image: none of %s exists", strings.Join(tried, ", "))
		}
		tried = append(tried, short)
		for _, s := range l.sessions {
			for _, line := range []string{s.train[0], s.test[0]} {
				if short, ok := strip(line, n); ok && exists(short) {
					return n, nil
				}
			}
		}
	}
}
