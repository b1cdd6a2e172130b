package teach

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

func openedJournal(t *testing.T, file string) *journal {
	t.Helper()
	j, err := openJournal(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// written returns the bytes of a journal with some lines.
func written(t *testing.T) (file string, text []byte, lines []Line) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "j")
	j := openedJournal(t, file)
	for i := range 6 {
		l := Line{Do: Label, Images: []ID{{byte(i)}}, Class: "a\nb", Time: time.Unix(int64(i), 0)}
		l.embed(ID{byte(i)}, []float32{float32(i), 0.5})
		if i == 0 {
			l = Line{Do: Start, Model: "m"}
		}
		if _, err := j.append(l); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return file, text, j.lines
}

// A journal that was cut anywhere, as by a kill, has the lines before the cut, and
// goes on after them.
func TestJournalCutAnywhere(t *testing.T) {
	file, text, lines := written(t)
	for n := range len(text) + 1 {
		if n%29 > 0 && n > 0 && text[n-1] != '\n' {
			continue
		}
		if err := os.WriteFile(file, text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		j := openedJournal(t, file)
		whole := bytes.Count(text[:n], []byte("\n"))
		if got := j.lines; len(got) != whole || whole > 0 && !reflect.DeepEqual(got, lines[:whole]) {
			t.Fatalf("cut at %d: %d lines, want %d", n, len(got), whole)
		}
		if unfinished := n > 0 && text[n-1] != '\n'; (j.Dropped != "") != unfinished {
			t.Errorf("cut at %d: dropped %q", n, j.Dropped)
		}
		if whole > 1 && !reflect.DeepEqual(j.embedding(ID{1}), []float32{1, 0.5}) {
			t.Errorf("cut at %d: embedding %v", n, j.embedding(ID{1}))
		}
		next := Line{Do: Refit}
		if whole == 0 {
			next = Line{Do: Start}
		}
		if _, err := j.append(next); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if got := openedJournal(t, file); len(got.lines) != whole+1 || got.Dropped != "" {
			t.Fatalf("cut at %d: %d lines after another", n, len(got.lines))
		} else if err := got.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Damage that is not a cut is an error that names the line.
func TestJournalDamage(t *testing.T) {
	file, text, _ := written(t)
	rows := bytes.SplitAfter(text, []byte("\n"))
	second := func(do string, args ...any) []byte {
		line := `{"seq":2,"time":"2026-01-01T00:00:00Z","do":` + fmt.Sprintf(do, args...) + "}\n"
		return slices.Concat(rows[0], []byte(line))
	}
	for name, damaged := range map[string][]byte{
		"a line is missing":    bytes.Join([][]byte{rows[0], rows[2]}, nil),
		"a line is twice":      bytes.Join([][]byte{rows[0], rows[1], rows[1]}, nil),
		"no first line":        rows[1],
		"not JSON":             slices.Concat(rows[0], []byte("{]\n")),
		"an unknown kind":      second(`"fly"`),
		"an unknown field":     second(`"refit","x":1`),
		"more after its value": slices.Concat(rows[0], bytes.TrimSpace(rows[1]), []byte(` {"seq":3}`+"\n")),
		"undo of no line":      second(`"undo","of":7`),
		"half an embedding":    second(`"label","images":["%s"],"class":"a","embeddings":{"%[1]s":"AAA="}`, ID{5}),
		"classes are missing":  second(`"accept","images":["%s"]`, ID{5}),
	} {
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if j, err := openJournal(file); err == nil {
			t.Errorf("%s: no error", name)
			j.Close()
		}
		if got, _ := os.ReadFile(file); !bytes.Equal(got, damaged) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestJournalIsLocked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j")
	openedJournal(t, file)
	if _, err := openJournal(file); !errors.Is(err, ErrInUse) {
		t.Errorf("a second open: %v", err)
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"seq":1,"time":"2026-01-01T00:00:00Z","do":"start"}` + "\n" +
		`{"seq":2,"time":"2026-01-01T00:00:00Z","do":"label","class":"a"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "j")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(file)
		if err != nil {
			return
		}
		fold(j.lines, newOrigin(nil, nil)).examples()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
