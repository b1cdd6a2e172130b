package checkpoint_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func some(values ...float64) classifier.State {
	return classifier.State{Settings: []byte(`{"steps":3}`),
		Tensors: map[string]classifier.Tensor{"m": {Shape: []int{len(values)}, F64: values}}}
}

// TestFolder checks that a later run finds what was saved last, under its key,
// and that Close removes only the parts of its own run.
func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "model.training")
	f := &checkpoint.Folder{Dir: dir}
	if _, ok := f.Load("k", "key"); ok {
		t.Error("a state out of nothing")
	}
	for _, s := range []classifier.State{some(1), some(2, 3)} {
		must.Do(t, f.Save("k", "key", s))
	}
	must.Do(t, (&checkpoint.Folder{Dir: dir}).Save("other", "key", some(4)))
	later := &checkpoint.Folder{Dir: dir}
	if s, ok := later.Load("k", "key"); !ok || !reflect.DeepEqual(s, some(2, 3)) {
		t.Errorf("%v, %+v", ok, s)
	}
	if _, ok := (&checkpoint.Folder{Dir: dir, Restart: true}).Load("k", "key"); ok {
		t.Error("it resumed although it was to start over")
	}
	must.Do(t, later.Close())
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "other.safetensors" {
		t.Errorf("%v, %v", left, err)
	}
	last := &checkpoint.Folder{Dir: dir}
	last.Load("other", "key")
	must.Do(t, last.Close())
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// TestDamaged checks that a file that is cut, altered, empty or of another
// kind, or that has another key, is reported and not used.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	f := &checkpoint.Folder{Dir: dir}
	must.Do(t, f.Save("k", "key", some(1, 2, 3)))
	file := filepath.Join(dir, "k.safetensors")
	whole := must.Get(os.ReadFile(file))(t)
	altered := append([]byte{}, whole...)
	altered[len(altered)-1] ^= 1
	for name, damage := range map[string]func() error{
		"cut":     func() error { return os.WriteFile(file, whole[:len(whole)-4], 0o600) },
		"altered": func() error { return os.WriteFile(file, altered, 0o600) },
		"empty":   func() error { return os.WriteFile(file, nil, 0o600) },
		"kind": func() error {
			return os.WriteFile(file,
				bytes.Replace(whole, []byte("pipeline-checkpoint"), []byte("something-elsewhere"), 1), 0o600)
		},
		"other": func() error { return f.Save("k", "another key", some(1)) },
	} {
		must.Do(t, damage())
		said := ""
		f.Say = func(message string, args ...any) { said = message + fmt.Sprint(args...) }
		if _, ok := f.Load("k", "key"); ok || !strings.Contains(said, "from the beginning") {
			t.Errorf("%s: %v, %q", name, ok, said)
		}
	}
}

// TestStartingOver checks that a restarted job ignores what earlier runs saved
// but uses what it saved itself.
func TestStartingOver(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, (&checkpoint.Folder{Dir: dir}).Save("k", "key", some(1)))
	f := &checkpoint.Folder{Dir: dir, Restart: true}
	if _, ok := f.Load("k", "key"); ok {
		t.Error("it resumed an earlier run")
	}
	must.Do(t, f.Save("k", "key", some(2)))
	if s, ok := f.Load("k", "key"); !ok || !reflect.DeepEqual(s, some(2)) {
		t.Errorf("%v, %+v", ok, s)
	}
}

// TestPart checks that a value is loaded only under its own key, until it is
// removed.
func TestPart(t *testing.T) {
	f := &checkpoint.Folder{Dir: t.TempDir()}
	key, err := checkpoint.Key("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	p := checkpoint.Part[[]int]{Folder: f, Name: "below/one", Key: key}
	if p.Load() != nil {
		t.Error("a value out of nothing")
	}
	must.Do(t, p.Save([]int{1, 2}))
	other := p
	if other.Key, err = checkpoint.Key("a", 2); err != nil || other.Key == key || other.Load() != nil {
		t.Errorf("another key has a value, %v", err)
	}
	if v := p.Load(); v == nil || !reflect.DeepEqual(*v, []int{1, 2}) {
		t.Errorf("%v", v)
	}
	for range 2 {
		if err := p.Remove(); err != nil || p.Load() != nil {
			t.Error(err)
		}
	}
	if _, err := checkpoint.Key(math.NaN()); err == nil {
		t.Error("a key of what is no JSON")
	}
	if err := (checkpoint.Part[float64]{Folder: f, Name: "two", Key: key}).Save(math.NaN()); err == nil {
		t.Error("what is no JSON was saved")
	}
}

// TestFolderTakesManyAtOnce checks that different parts can be saved and loaded
// concurrently.
func TestFolderTakesManyAtOnce(t *testing.T) {
	f := &checkpoint.Folder{Dir: t.TempDir()}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprint(i)
			if err := f.Save(name, "key", some(1)); err != nil {
				t.Error(err)
			}
			if s, ok := f.Load(name, "key"); !ok || !reflect.DeepEqual(s, some(1)) {
				t.Errorf("%s: %v, %+v", name, ok, s)
			}
		})
	}
	all.Wait()
}
