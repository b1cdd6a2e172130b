package cub

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The files of the data set that are needed; they lie side by side.
const (
	imagesName = "images.txt"
	splitName  = "train_test_split.txt"
)

// The values of a feature folder's column split.
const (
	splitTrain = "train"
	splitTest  = "test"
)

// lists is what the data set says of its images.
type lists struct {
	dir string
	// split has "train" or "test" for every CLASS/FILE.
	split map[string]string
}

// readLists reads images.txt and train_test_split.txt of a folder.
func readLists(dir string) (*lists, error) {
	images, split := filepath.Join(dir, imagesName), filepath.Join(dir, splitName)
	paths, err := readNumbered(images, imagePath)
	if err != nil {
		return nil, err
	}
	uses, err := readNumbered(split, trainOrTest)
	if err != nil {
		return nil, err
	}
	l := &lists{dir: dir, split: map[string]string{}}
	for _, row := range paths.rows {
		use, ok := uses.byID[row.id]
		switch {
		case !ok:
			return nil, fmt.Errorf("image %s has number %d in %s, which %s does not have", row.value, row.id, images, split)
		case l.split[row.value] != "":
			return nil, fmt.Errorf("%s: line %d: image %s is listed twice", images, row.line, row.value)
		}
		l.split[row.value] = use
	}
	for _, row := range uses.rows {
		if _, ok := paths.byID[row.id]; !ok {
			return nil, fmt.Errorf("%s: line %d: image number %d is not in %s", split, row.line, row.id, images)
		}
	}
	return l, nil
}

// numbered is a file of lines "number value".
type numbered struct {
	rows []numberedRow
	byID map[int]string
}

type numberedRow struct {
	line, id int
	value    string
}

// maxLineBytes is far more than a path takes.
const maxLineBytes = 64 << 10

// readNumbered reads a file; parse checks and converts each value.
func readNumbered(file string, parse func(string) (string, error)) (numbered, error) {
	n := numbered{byID: map[int]string{}}
	r, err := openText(file)
	if err != nil {
		return n, err
	}
	defer r.Close()
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, maxLineBytes)
	line := 0
	for scan.Scan() {
		line++
		if strings.TrimSpace(scan.Text()) == "" {
			continue
		}
		if err := n.add(line, scan.Text(), parse); err != nil {
			return n, fmt.Errorf("%s: line %d: %w", file, line, err)
		}
	}
	if err := scan.Err(); err != nil {
		return n, fmt.Errorf("%s: line %d: %w", file, line+1, err)
	}
	if len(n.rows) == 0 {
		return n, fmt.Errorf("%s: is empty", file)
	}
	return n, nil
}

func openText(file string) (*os.File, error) {
	info, err := os.Stat(file) // before opening: a pipe would block
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; the folder of CUB must hold %s and %s, as the folder CUB_200_2011 of its archive does", err, imagesName, splitName)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", file)
	}
	return os.Open(file)
}

func (n *numbered) add(line int, text string, parse func(string) (string, error)) error {
	number, value, _ := strings.Cut(strings.TrimSpace(text), " ")
	id, err := strconv.Atoi(number)
	if err != nil || id < 1 {
		return fmt.Errorf("%q does not begin with the number of an image", text)
	}
	if _, ok := n.byID[id]; ok {
		return fmt.Errorf("image number %d is listed twice", id)
	}
	if value, err = parse(strings.TrimSpace(value)); err != nil {
		return err
	}
	n.byID[id] = value
	n.rows = append(n.rows, numberedRow{line, id, value})
	return nil
}

// imagePath checks the value of a line of images.txt: CLASS/FILE.
func imagePath(value string) (string, error) {
	class, file, ok := strings.Cut(value, "/")
	if _, numbered := classNumber(class); !ok || !numbered || file == "" || strings.Contains(file, "/") {
		return "", fmt.Errorf("%q is not an image of CUB, such as 001.Black_footed_Albatross/Black_Footed_Albatross_0046_18.jpg", value)
	}
	return value, nil
}

func trainOrTest(value string) (string, error) {
	switch value {
	case "1":
		return splitTrain, nil
	case "0":
		return splitTest, nil
	}
	return "", fmt.Errorf("%q is neither 1 (training) nor 0 (test)", value)
}

// classNumber is the 1 of 001.Black_footed_Albatross.
func classNumber(class string) (int, bool) {
	number, name, ok := strings.Cut(class, ".")
	n, err := strconv.ParseUint(number, 10, 31)
	return int(n), ok && err == nil && n > 0 && name != ""
}
