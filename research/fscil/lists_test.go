package fscil

import (
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

func writeLists(t *testing.T, lists map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range lists {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

func TestReadLists(t *testing.T) {
	l := must.Get(ReadLists(writeLists(t, map[string]string{
		"session_1.txt": "R/images/001.Duck/a.jpg\r\n\nR/images/002.Owl/b.jpg",
		"test_1.txt":    "R/images/001.Duck/c.jpg\nR/images/002.Owl/d.jpg\n",
		"session_2.txt": "R/images/003.Emu/e.jpg\n", "test_2.txt": "R/images/003.Emu/f.jpg\n",
	})))(t)
	for want := range 3 {
		n, err := l.FindStrip(func(p string) bool {
			short, _ := strip("R/images/003.Emu/f.jpg", want)
			return p == short // the only image that is there
		})
		if err != nil || n != want {
			t.Errorf("strip %d, %v; want %d", n, err, want)
		}
	}
	if _, err := l.FindStrip(func(string) bool { return false }); err == nil ||
		!strings.Contains(err.Error(), "001.Duck/a.jpg") {
		t.Errorf("error %v does not name the image", err)
	}
	p := must.Get(l.Protocol(Stripped(1)))(t)
	if got, want := p.Samples()[1], (Sample{"images/002.Owl/b.jpg", "002.Owl"}); got != want || p.Sessions() != 2 ||
		l.Numbered() {
		t.Errorf("sample %v, want %v", got, want)
	}
	if _, err := l.Protocol(Stripped(9)); err == nil {
		t.Error("more folders were stripped than there are")
	}
}

func TestListMistakes(t *testing.T) {
	good := "a/1.jpg\n"
	for name, c := range map[string]struct {
		lists map[string]string
		want  string
	}{
		"nothing":     {nil, "session_1.txt"},
		"no test":     {map[string]string{"session_1.txt": good}, "test_1.txt"},
		"empty":       {map[string]string{"session_1.txt": "\n", "test_1.txt": good}, "session_1.txt: is empty"},
		"leads out":   {map[string]string{"session_1.txt": good, "test_1.txt": "b/1.jpg\n../x.jpg"}, "line 2"},
		"absolute":    {map[string]string{"session_1.txt": "/etc/passwd", "test_1.txt": good}, "line 1"},
		"two slashes": {map[string]string{"session_1.txt": "a//b.jpg", "test_1.txt": good}, "line 1"},
	} {
		if _, err := ReadLists(writeLists(t, c.lists)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func FuzzLists(f *testing.F) {
	f.Add([]byte("MINI-ImageNet/train/n01532829/n0153282900000792.jpg\n9\n"))
	f.Add([]byte("a/../../b\r\n\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines, err := parseLines(text)
		if err != nil {
			return
		}
		for _, line := range lines {
			if path.IsAbs(line) || line == ".." || strings.HasPrefix(line, "../") || strings.Contains(line, "/../") {
				t.Errorf("%q leads out of the image folder", line)
			}
			for n := range 3 {
				if s, err := Stripped(n)(line, false); err == nil && (s.Path == "" || s.Class == "") {
					t.Errorf("%q became %+v", line, s)
				}
			}
		}
	})
}

// TestOfficialLists: the published lists have the documented sessions and no
// leaks.
func TestOfficialLists(t *testing.T) {
	for _, c := range []struct {
		name                                 string
		sessions, base, ways, shots, testing int
	}{
		{"mini_imagenet", 9, 60, 5, 5, 6000}, {"cub200", 11, 100, 10, 5, 2864},
	} {
		l := must.Get(ReadLists(shared.Path(t, "data", "fscil_index_lists", c.name)))(t)
		p := must.Get(l.Protocol(Stripped(0)))(t)
		if p.Sessions() != c.sessions || len(p.Classes(0)) != c.base || len(p.sessions[0].Test) != c.testing {
			t.Errorf("%s: %d sessions, %d base classes, %d test images", c.name, p.Sessions(), len(p.Classes(0)),
				len(p.sessions[0].Test))
		}
		for s := 1; s < p.Sessions(); s++ {
			if len(p.Classes(s)) != c.ways || len(p.sessions[s].Train) != c.ways*c.shots {
				t.Errorf("%s, session %d: %d classes, %d images", c.name, s+1, len(p.Classes(s)),
					len(p.sessions[s].Train))
			}
		}
	}
	l, err := ReadLists(shared.Path(t, "data", "fscil_index_lists", "cifar100"))
	if err != nil || !l.Numbered() || len(l.sessions) != 9 {
		t.Errorf("cifar100: %v", err)
	}
}

func TestRecorded(t *testing.T) {
	rows := []dataset.Sample{
		{Path: "c/1", Label: "c", Split: "train", Session: "2"},
		{Path: "a/1", Label: "a", Split: "Train", Session: "1"},
		{Path: "a/2", Label: "a", Split: "test", Session: "1"}, {Path: "c/2", Label: "c", Split: "test", Session: "2"},
		{Path: "x/1", Label: "x"},
	}
	p := must.Get(Recorded(rows))(t)
	want := []Sample{{"a/1", "a"}, {"a/2", "a"}, {"c/1", "c"}, {"c/2", "c"}}
	if got := p.Samples(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for want, change := range map[string]func([]dataset.Sample){
		"--lists":      func(r []dataset.Sample) { clear(r) },
		"row 1":        func(r []dataset.Sample) { r[0].Session = "two" },
		"0":            func(r []dataset.Sample) { r[0].Session = "0" },
		"no session 2": func(r []dataset.Sample) { r[0].Session, r[3].Session = "3", "3" },
		"validation":   func(r []dataset.Sample) { r[1].Split = "validation" },
	} {
		bad := append([]dataset.Sample(nil), rows...)
		change(bad)
		if _, err := Recorded(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
