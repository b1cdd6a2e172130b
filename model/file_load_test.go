package model

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

func TestLoadSaysWhatIsWrong(t *testing.T) {
	path := saved(t)
	raw := contents(t, path)
	side := contents(t, loaded(t, path).StatisticsPath())
	flipped := bytes.Clone(raw)
	flipped[len(raw)-100] ^= 1
	for name, c := range map[string]struct {
		raw  []byte
		want error
		says string
	}{
		"cut":       {raw[:len(raw)-1], ErrTooShort, "promises"},
		"cut early": {raw[:100], ErrTooShort, "does not fit"},
		"empty":     {nil, ErrTooShort, "0 bytes"},
		"altered":   {flipped, ErrAltered, "checksum"},
		"longer":    {append(bytes.Clone(raw), 1), ErrNotModel, "follow"},
		"photo":     {append([]byte("\xff\xd8\xff\xe0"), make([]byte, 100)...), ErrNotModel, ""},
		"text":      {[]byte("this is a text file, not a model"), ErrNotModel, ""},
		"side file": {side, ErrNotModel, "side file"},
		"newer": {repack(t, raw, func(c *container.File) { c.Metadata[container.VersionKey] = "5" }),
			ErrNewerVersion, "update pipeline"},
		"older": {repack(t, raw, func(c *container.File) { c.Metadata[container.VersionKey] = "1" }),
			ErrOlderVersion, "train the model again"},
		"of 0.1": {repack(t, raw, func(c *container.File) {
			c.Metadata[container.DocumentKey] = strings.Replace(c.Metadata[container.DocumentKey],
				`"tool_version":"test"`, `"tool_version":"0.1.0"`, 1)
		}), ErrOlderVersion, "train the model again"},
		"no version": {repack(t, raw, func(c *container.File) { delete(c.Metadata, container.VersionKey) }),
			ErrNotModel, "version"},
		"foreign": {repack(t, raw, func(c *container.File) { c.Metadata = nil }), ErrNotModel, "another kind"},
	} {
		bad := filepath.Join(t.TempDir(), "bad.model")
		must.Do(t, os.WriteFile(bad, c.raw, 0o600))
		if _, err := load(bad, fakes()); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v, want %v saying %q", name, err, c.want, c.says)
		}
	}
	must.Do(t, os.WriteFile(path+previousSuffix, raw, 0o600))
	must.Do(t, os.Truncate(path, 300))
	if _, err := load(path, fakes()); err == nil || !strings.Contains(err.Error(), path+previousSuffix) {
		t.Errorf("no hint at the previous version: %v", err)
	}
	if _, err := load(t.TempDir(), fakes()); err == nil {
		t.Error("a folder was loaded")
	}
	if _, err := load(filepath.Join(t.TempDir(), "absent"), fakes()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// repack changes a file and gives it a correct checksum.
func repack(t testing.TB, raw []byte, change func(*container.File)) []byte {
	t.Helper()
	f := must.Get(safetensors.Open(bytes.NewReader(raw), int64(len(raw))))(t)
	c := container.File{Tensors: map[string]safetensors.Tensor{}, Metadata: f.Metadata()}
	for _, info := range f.Tensors() {
		if info.Name == safetensors.DigestName {
			continue
		}
		c.Tensors[info.Name] = must.Get(f.Read(info.Name))(t)
	}
	change(&c)
	var b bytes.Buffer
	must.Get(safetensors.Write(&b, c.Tensors, c.Metadata))(t)
	return b.Bytes()
}

// Files with a correct checksum and wrong content.
func TestLoadRefusesInconsistentFiles(t *testing.T) {
	raw := contents(t, saved(t))
	replace := func(old, new string) func(*container.File) {
		return func(c *container.File) {
			if !strings.Contains(c.Metadata[container.DocumentKey], old) {
				t.Fatalf("%s is not in the document %s", old, c.Metadata[container.DocumentKey])
			}
			c.Metadata[container.DocumentKey] = strings.Replace(c.Metadata[container.DocumentKey], old, new, 1)
		}
	}
	for name, change := range map[string]func(*container.File){
		"no document":    func(c *container.File) { delete(c.Metadata, container.DocumentKey) },
		"no JSON":        func(c *container.File) { c.Metadata[container.DocumentKey] = "{" },
		"no method":      replace(`"method":"fake"`, `"method":""`),
		"dimension":      replace(`"dim":3`, `"dim":4`),
		"classes":        replace(`"bee"`, `"bea"`),
		"class twice":    replace(`"bee"`, `"ant"`),
		"count":          replace(`"count":24`, `"count":23`),
		"large count":    replace(`"count":24`, `"count":25`),
		"negative count": replace(`"count":24`, `"count":-1`),
		"index":          replace(`"index":0`, `"index":-1`),
		"spec":           replace(`"size":96`, `"size":0`),
		"pointer":        replace(`"statistics":{"sha256":"`, `"statistics":{"sha256":"../`),
		"no samples":     func(c *container.File) { delete(c.Tensors, contentTensor) },
		"no class":       func(c *container.File) { delete(c.Tensors, classTensor) },
		"class range":    func(c *container.File) { c.Tensors[classTensor].I64[3] = 4 },
		"class negative": func(c *container.File) { c.Tensors[classTensor].I64[3] = -1 },
		"quantile order": func(c *container.File) { c.Tensors[noveltyTensor].F64[3] = 1e9 },
		"other quantiles": func(c *container.File) {
			c.Tensors[otherTensor] = safetensors.Tensor{Shape: []int{1}, F64: []float64{1}}
		},
		"quantiles": func(c *container.File) {
			c.Tensors[noveltyTensor] = safetensors.Tensor{Shape: []int{1}, F64: []float64{1}}
		},
		"byte tensor": func(c *container.File) {
			c.Tensors["head.x"] = safetensors.Tensor{Shape: []int{1}, U8: []byte{1}}
		},
		"no head": func(c *container.File) { delete(c.Tensors, "head.mean") },
		"class dtype": func(c *container.File) {
			c.Tensors[classTensor] = safetensors.Tensor{Shape: []int{24}, F64: make([]float64, 24)}
		},
	} {
		bad := repack(t, raw, change)
		if m, _, err := decode(bytes.NewReader(bad), int64(len(bad)), fakes()); err == nil {
			t.Errorf("%s: accepted as %+v", name, m)
		}
	}
	same := repack(t, raw, func(*container.File) {})
	if !bytes.Equal(same, raw) {
		t.Error("repacking changes the bytes")
	}
}

// FuzzLoad mutates the document and the bytes of one tensor, with a correct
// checksum, and raw files.
func FuzzLoad(f *testing.F) {
	raw := contents(f, saved(f))
	file := must.Get(safetensors.Open(bytes.NewReader(raw), int64(len(raw))))(f)
	f.Add(raw, file.Metadata()[container.DocumentKey], "2", []byte{1, 0, 0, 0, 0, 0, 0, 0})
	f.Add(raw[:50], `{"method":"fake"}`, "3", []byte{})
	f.Fuzz(func(t *testing.T, whole []byte, document, version string, class []byte) {
		try(t, whole)
		var out bytes.Buffer
		c := container.File{Tensors: map[string]safetensors.Tensor{},
			Metadata: map[string]string{container.FormatKey: modelFormat.Name, container.VersionKey: version,
				container.DocumentKey: document}}
		for _, info := range file.Tensors() {
			if info.Name != safetensors.DigestName {
				c.Tensors[info.Name], _ = file.Read(info.Name)
			}
		}
		for i, v := range class {
			c.Tensors[classTensor].I64[i%24] = int64(int8(v))
		}
		if _, err := safetensors.Write(&out, c.Tensors, c.Metadata); err == nil {
			try(t, out.Bytes())
		}
	})
}

func try(t *testing.T, raw []byte) {
	m, _, err := decode(bytes.NewReader(raw), int64(len(raw)), fakes())
	if err != nil {
		return
	}
	_ = m.ClassSizes()
	_, _ = m.Threshold(0.5)
	if _, err := m.encode(m.statistics.pointer); err != nil {
		t.Fatalf("a loaded model cannot be encoded: %v", err)
	}
}

// TestMistypedName: a MODEL that is not there is looked for under a similar name, but not
// among journals.
func TestMistypedName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"animals.model", "birds.model.journal"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for typed, hint := range map[string]string{
		"animal.model": `; did you mean "animals.model"?`, "animals": `; did you mean "animals.model"?`,
		"birds.model": "", "none/animals.model": "",
	} {
		_, err := Load(filepath.Join(dir, typed))
		if !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), hint) ||
			hint == "" && strings.Contains(err.Error(), "did you mean") {
			t.Errorf("%s: %v, want %q", typed, err, hint)
		}
	}
}
