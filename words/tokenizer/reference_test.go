package tokenizer_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

// texts is the number of texts that both tokenize.
const texts = 10000

// made are the tokenizers of testdata/reference.py.
var made = []string{"clip", "unigram", "never", "precompiled", "gemma", "forms"}

// TestLikePython: ten thousand texts in many scripts have the ids that the Python package
// tokenizers gives them, with each of its files.
func TestLikePython(t *testing.T) {
	python := testenv.Python(t, "tokenizers")
	dir := t.TempDir()
	run := exec.Command(python, "testdata/reference.py", dir, strconv.Itoa(texts))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := decode[[]string](t, filepath.Join(dir, "texts.json"))
	if len(lines) != texts {
		t.Fatalf("%d texts", len(lines))
	}
	for _, name := range made {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := must.Get(os.ReadFile(filepath.Join(dir, name+".json")))(t)
			tok := must.Get(tokenizer.Parse(data))(t)
			wrong := 0
			for i, want := range decode[[][]int32](t, filepath.Join(dir, name+".ids.json")) {
				got := tok.Encode(lines[i], tok.Length())
				for tok.Fixed() && len(got) < tok.Length() {
					got = append(got, tok.Pad())
				}
				if slices.Equal(got, want) {
					continue
				}
				if wrong++; wrong <= 3 {
					t.Errorf("%q\n got %v\nwant %v", lines[i], got, want)
				}
			}
			if wrong > 0 {
				t.Errorf("%d of %d texts differ", wrong, texts)
			}
		})
	}
}

func decode[T any](t *testing.T, file string) (v T) {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	must.Do(t, json.Unmarshal(data, &v))
	return v
}
