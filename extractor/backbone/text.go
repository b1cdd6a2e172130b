package backbone

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/phrase"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/words/textencoder"
	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

// ErrNoText means that the network of photos has no text side.
var ErrNoText = errors.New("no text side")

// A TextEntry is the text side of an Entry: a network and its tokenizer.json.
type TextEntry struct {
	Remote    `yaml:",inline"`
	Tokenizer Remote `yaml:"tokenizer"`
	// Length is the number of tokens of a text, and Pad the token that fills it.
	Length int    `yaml:"length"`
	Pad    *int32 `yaml:"pad"`
	// Output is the tensor to read, "" to detect it.
	Output string `yaml:"output"`
}

// A Remote is a published file.
type Remote struct {
	SHA256 string   `yaml:"sha256"`
	Bytes  int64    `yaml:"bytes"`
	URLs   []string `yaml:"urls"`
}

func (t *TextEntry) validate() error {
	if t.Length < 1 || t.Length > tokenizer.MaxLength {
		return fmt.Errorf("length %d: not in 1…%d", t.Length, tokenizer.MaxLength)
	}
	for _, r := range []Remote{t.Remote, t.Tokenizer} {
		if err := checkHash(r.SHA256); err != nil || r.Bytes < 1 || len(r.URLs) == 0 {
			return fmt.Errorf("sha256 %q, bytes and urls are required of both files", r.SHA256)
		}
		if err := checkAddresses(r.URLs); err != nil {
			return err
		}
	}
	return nil
}

// files returns the files of an entry, as entries of one file: that of the photos first.
func (e Entry) files() []Entry {
	files := []Entry{e}
	if t := e.Text; t != nil {
		files = append(files,
			Entry{Name: e.Name + "-text", SHA256: t.SHA256, Bytes: t.Bytes, URLs: t.URLs},
			Entry{Name: e.Name + "-tokenizer", SHA256: t.Tokenizer.SHA256, Bytes: t.Tokenizer.Bytes,
				URLs: t.Tokenizer.URLs, suffix: ".json"})
	}
	return files
}

// AllBytes returns the size of all files of e.
func (e Entry) AllBytes() (total int64) {
	for _, f := range e.files() {
		total += f.Bytes
	}
	return total
}

// A TextSide is a network of texts and its tokenizer, read.
type TextSide struct {
	// Name and Path are those of the network, TokenizerPath that of the tokenizer.
	Name, Path, TokenizerPath string
	Network, Tokenizer        []byte
	// Settings holds the tokenizer_config.json next to the tokenizer; nil if there is none.
	Settings []byte
	// Config says how to read the network, as far as the catalogue knows.
	Config textencoder.Config
}

// SHA256 returns the hash of the network.
func (t TextSide) SHA256() string { return hashOf(t.Network) }

// Photos name a network of photos: by its hash, and where it was found.
type Photos struct{ Name, SHA256, Path string }

// FindText returns the text side of a network of photos. network and tokenizer are files
// that the user named, or "". Without them it tries the catalogue, then files beside that
// of the photos (text_model.onnx beside vision_model.onnx, textual.onnx beside
// visual.onnx), then that file itself, which may have both sides. The tokenizer.json lies
// in the same folder or the one above. The error wraps ErrNoText if there is nothing,
// ErrNotPulled if it was not downloaded.
func FindText(photos Photos, network, tokenizer string, dirs Dirs) (TextSide, error) {
	if network != "" {
		return readText(network, tokenizer)
	}
	entry, err := entryOf(photos.SHA256)
	if err != nil {
		return TextSide{}, err
	}
	if entry != nil && entry.Text != nil {
		return entry.text(tokenizer, dirs)
	}
	if beside, ok := textBeside(photos.Path); ok {
		return readText(beside, tokenizer)
	}
	if photos.Path != "" {
		t, err := readBoth(photos.Path, tokenizer)
		if !errors.Is(err, ErrNoText) && !errors.Is(err, fs.ErrNotExist) {
			return t, err
		}
	}
	return TextSide{}, phrase.New("backbone %s has %w here: words need the network of texts that was trained with it. "+
		"Take one that has both (pipeline backbones list: clip-b32), or name the file with text.network=FILE "+
		"and its tokenizer.json with {tokenizer} FILE", photos.Name, ErrNoText)
}

// HasText reports whether FindText would find a text side, without reading it. network is
// what the user named.
func HasText(photos File, network string, dirs Dirs) bool {
	if network != "" {
		return true
	}
	e := photos.Entry
	if e != nil && e.Text != nil {
		return dirs.Pulled(*e)
	}
	if _, ok := textBeside(photos.Path); ok {
		return true
	}
	m, err := onnx.Parse(photos.Bytes())
	return err == nil && photos.Path != "" && textencoder.HasTexts(m)
}

// text reads the text side of an entry from the cache.
func (e Entry) text(tokenizerPath string, dirs Dirs) (TextSide, error) {
	files := e.files()[1:]
	t := TextSide{Name: files[0].Name, Config: textencoder.Config{Output: e.Text.Output, Length: e.Text.Length,
		Pad: e.Text.Pad}}
	for i, file := range files {
		path := dirs.CachePath(file)
		if !dirs.has(file) {
			return t, fmt.Errorf("text side of backbone %s: %w; %s", e.Name, ErrNotPulled, e.howToGet(dirs))
		}
		data, err := regularfile.Read(path, maxFileBytes)
		if err != nil {
			return t, fmt.Errorf("text side of backbone %s: %w", e.Name, err)
		}
		if got := hashOf(data); got != file.SHA256 {
			wrong := &HashError{Path: path, Want: file.SHA256, Got: got}
			return t, fmt.Errorf("text side of backbone %s: %w; delete the file and run: pipeline backbones pull %[1]s",
				e.Name, wrong)
		}
		if i == 0 {
			t.Path, t.Network = path, data
		} else {
			t.TokenizerPath, t.Tokenizer = path, data
		}
	}
	if tokenizerPath != "" {
		return t, t.readTokenizer(tokenizerPath)
	}
	return t, nil
}

// sides are what exporters call the two sides of a network in the names of files.
var sides = [...][2]string{{"vision", "text"}, {"visual", "textual"}, {"image", "text"}, {"img", "text"}}

// textBeside returns the file of texts that belongs to one of photos by its name.
func textBeside(photos string) (string, bool) {
	dir, name := filepath.Split(photos)
	for _, side := range sides {
		if !strings.Contains(name, side[0]) {
			continue
		}
		path := dir + strings.Replace(name, side[0], side[1], 1)
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}

// readBoth reads a network of both sides.
func readBoth(path, tokenizerPath string) (TextSide, error) {
	data, err := regularfile.Read(path, maxFileBytes)
	if err != nil {
		return TextSide{}, err
	}
	m, err := onnx.Parse(data)
	if err != nil || !textencoder.HasTexts(m) {
		return TextSide{}, ErrNoText
	}
	t := TextSide{Name: path, Path: path, Network: data}
	return t, t.findTokenizer(tokenizerPath)
}

func readText(path, tokenizerPath string) (TextSide, error) {
	data, err := regularfile.Read(path, maxFileBytes)
	if err != nil {
		return TextSide{}, fmt.Errorf("read text network %s: %w", path, err)
	}
	t := TextSide{Name: path, Path: path, Network: data}
	return t, t.findTokenizer(tokenizerPath)
}

// findTokenizer reads the tokenizer at path or, if path is empty, the one next to the network
// or one folder up.
func (t *TextSide) findTokenizer(path string) error {
	if path != "" {
		return t.readTokenizer(path)
	}
	const name = "tokenizer.json"
	dir := filepath.Dir(t.Path)
	for _, place := range []string{dir, filepath.Join(dir, "..")} {
		if _, err := os.Stat(filepath.Join(place, name)); err == nil {
			return t.readTokenizer(filepath.Join(place, name))
		}
	}
	return phrase.New("text network %s: there is no %s beside it: name it with {tokenizer} FILE", t.Path, name)
}

func (t *TextSide) readTokenizer(path string) (err error) {
	t.TokenizerPath = path
	if t.Tokenizer, err = regularfile.Read(path, tokenizer.MaxFile); err != nil {
		return fmt.Errorf("read tokenizer %s: %w", path, err)
	}
	settings := filepath.Join(filepath.Dir(path), "tokenizer_config.json")
	t.Settings, err = regularfile.Read(settings, tokenizer.MaxSettings)
	if err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", settings, err)
	}
	return nil
}
