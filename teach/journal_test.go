package teach

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model"
)

func openedJournal(t *testing.T, file string) *journal {
	t.Helper()
	j := must.Get(openJournal(file))(t)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// written returns the bytes of a journal with some lines.
func written(t *testing.T) (file string, text []byte, lines []Line) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "j")
	j := openedJournal(t, file)
	for i := range 6 {
		l := Line{Decision: Decision{Do: Label, Images: []ID{{byte(i)}}, Class: "a\nb"}, Time: time.Unix(int64(i), 0)}
		l.embed(ID{byte(i)}, []float32{float32(i), 0.5})
		if i == 0 {
			l = Line{Decision: Decision{Do: Start}, Model: "m"}
		}
		must.Get(j.append(l))(t)
	}
	text = must.Get(os.ReadFile(file))(t)
	must.Do(t, j.Close())
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
		must.Do(t, os.WriteFile(file, text[:n], 0o600))
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
		next := Line{Decision: Decision{Do: Refit}}
		if whole == 0 {
			next = Line{Decision: Decision{Do: Start}}
		}
		must.Get(j.append(next))(t)
		must.Do(t, j.Close())
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
	photo := fmt.Sprintf(`"images":["%s"]`, ID{5})
	third := func(do string, args ...any) []byte { // after one with an embedding of two values
		line := `{"seq":3,"time":"2026-01-01T00:00:00Z","do":` + fmt.Sprintf(do, args...) + "}\n"
		return slices.Concat(rows[0], rows[1], []byte(line))
	}
	for name, damaged := range map[string][]byte{
		"a line is missing":    bytes.Join([][]byte{rows[0], rows[2]}, nil),
		"a line is twice":      bytes.Join([][]byte{rows[0], rows[1], rows[1]}, nil),
		"no first line":        rows[1],
		"not JSON":             slices.Concat(rows[0], []byte("{]\n")),
		"an unknown kind":      second(`"fly"`),
		"an unknown field":     second(`"refit","x":1`),
		"labels of a request":  second(`"several",%s,"classes":["a","b"],"labels":["a","b"]`, photo),
		"more after its value": slices.Concat(rows[0], bytes.TrimSpace(rows[1]), []byte(` {"seq":3}`+"\n")),
		"undo of no line":      second(`"undo","of":7`),
		"half an embedding":    second(`"label","images":["%s"],"class":"a","embeddings":{"%[1]s":"AAA="}`, ID{5}),
		"classes are missing":  second(`"accept","images":["%s"]`, ID{5}),
		"no name":              second(`"label",%s,"class":""`, photo),
		"a name of 1 MB":       second(`"label",%s,"class":"%s"`, photo, strings.Repeat("a", 1<<20)),
		"no new name":          second(`"rename","class":"a"`),
		"no old name":          second(`"merge","to":"a"`),
		"no name among others": second(`"accept",%s,"classes":[""]`, photo),
		"an empty thing":       second(`"several",%s,"classes":["a",""]`, photo),
		"one thing":            second(`"import",%s,"classes":[""],"shows":{"%s":["a"]}`, photo, ID{5}),
		"things of another":    second(`"import",%s,"classes":[""],"shows":{"%s":["a","b"]}`, photo, ID{6}),
		"a class of no use":    second(`"ignore",%s,"class":"a"`, photo),
		"photos of a rename":   second(`"rename",%s,"class":"a","to":"b"`, photo),
		"no probability":       second(`"label",%s,"class":"a","was":"b","p":7`, photo),
		"no embedding":         second(`"label",%s,"class":"a","embeddings":{"%s":""}`, photo, ID{5}),
		"a long embedding":     third(`"label",%s,"class":"a","embeddings":{"%s":"AAAAAAAAAAAAAAAA"}`, photo, ID{5}),
		"no number":            third(`"label",%s,"class":"a","embeddings":{"%s":"AADAfwAAAAA="}`, photo, ID{5}),
		"infinite":             third(`"label",%s,"class":"a","embeddings":{"%s":"AACAfwAAAAA="}`, photo, ID{5}),
		"another's embedding":  third(`"label",%s,"class":"a","embeddings":{"%s":"AAAAAAAAAAA="}`, photo, ID{6}),
	} {
		must.Do(t, os.WriteFile(file, damaged, 0o600))
		j, err := openJournal(file)
		if err == nil {
			t.Errorf("%s: no error", name)
			j.Close()
			continue
		}
		line := fmt.Sprintf("line %d is damaged", bytes.Count(damaged, []byte("\n")))
		if !strings.Contains(err.Error(), line) {
			t.Errorf("%s: %.200s, want %q", name, err, line)
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

// A journal of a session has embeddings of as many values as the model.
func TestJournalOfOtherEmbeddings(t *testing.T) {
	w, dir := newWorld(2, 4), t.TempDir()
	s := w.openAt(t, dir, "ncm")
	must.Do(t, s.Close())
	s = w.openAt(t, dir, "ncm")
	w.name(t, s, 0)
	file, base := s.journal.path, read(t, s.base.file)
	must.Do(t, s.Close())
	j := openedJournal(t, file)
	lines := j.lines
	must.Do(t, j.Close())
	must.Do(t, os.Remove(file))
	j = openedJournal(t, file)
	for _, l := range lines {
		if len(l.Images) > 0 {
			l.embed(l.Images[0], []float32{1, 2})
		}
		must.Get(j.append(l))(t)
	}
	must.Do(t, j.Close())
	write(t, filepath.Join(dir, "m.model"+baseSuffix), base)
	if _, err := Open(s.options); err == nil || !strings.Contains(err.Error(), "line 2 is damaged") ||
		!strings.Contains(err.Error(), "2 values") {
		t.Errorf("%v", err)
	}
}

// Whatever a journal has that is read, its state can be made, a model can learn it, and it can be written
// again.
func FuzzJournal(f *testing.F) {
	var all []byte
	for _, l := range keptLines() {
		if l.Do == Label || l.Do == Import {
			for i, id := range l.Images {
				l.embed(id, []float32{float32(l.Seq), float32(i)})
			}
		}
		text := must.Get(json.Marshal(l))(f)
		all = append(append(all, text...), '\n')
		f.Add(all)
	}
	f.Add([]byte(`{"seq":1,"time":"2026-01-01T00:00:00Z","do":"start"}` + "\n" +
		`{"seq":2,"time":"2026-01-01T00:00:00Z","do":"label","class":"a"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "j")
		must.Do(t, os.WriteFile(file, text, 0o600))
		j, err := openJournal(file)
		if err != nil {
			return
		}
		defer j.Close()
		for _, base := range []*origin{newOrigin(nil, nil), learned()} {
			st := fold(j.lines, base)
			if one := fold(nil, base); len(j.lines) > 0 {
				for _, l := range j.lines {
					one.take(l)
				}
				if one.summary() != st.summary() {
					t.Errorf("line by line %s, at once %s", one.summary(), st.summary())
				}
			}
			points(j.lines, base)
			st.history(0, 100)
			learns(t, st, j)
		}
		if len(j.lines) == 0 {
			return
		}
		before := len(j.lines)
		must.Do(t, j.rewrite(j.lines, nil))
		if again, err := readJournal(file); err != nil || len(again.lines) != before {
			t.Errorf("written again: %v", err)
		}
	})
}

// learns checks that a model learns the examples whose embeddings a journal has.
func learns(t *testing.T, st *state, j *journal) {
	want := slices.DeleteFunc(st.examples(), func(s model.SampleID) bool { return j.embedding(ID(s.Content)) == nil })
	if !enough(want) {
		return
	}
	b, err := batch(want, 0, j.embedding)
	if err == nil {
		_, err = fresh(t, "ncm").Learn(t.Context(), b)
	}
	if err != nil {
		t.Error(err)
	}
}
