package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
)

func some(values ...float64) classifier.State {
	return classifier.State{Settings: []byte(`{"steps":3}`), Tensors: map[string]classifier.Tensor{"m": {Shape: []int{len(values)}, F64: values}}}
}

// TestFolder: what was saved last is there for a later run, under its key; Close
// removes what is this run's.
func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "model.training")
	f := &checkpoint.Folder{Dir: dir}
	if _, ok := f.Open("k"); ok {
		t.Error("a state out of nothing")
	}
	for _, s := range []classifier.State{some(1), some(2, 3)} {
		if err := f.Save("k", s); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&checkpoint.Folder{Dir: dir}).Save("other", some(4)); err != nil {
		t.Fatal(err)
	}
	later := &checkpoint.Folder{Dir: dir}
	if s, ok := later.Open("k"); !ok || !reflect.DeepEqual(s, some(2, 3)) {
		t.Errorf("%v, %+v", ok, s)
	}
	if _, ok := (&checkpoint.Folder{Dir: dir, Anew: true}).Open("k"); ok {
		t.Error("anew, and yet it goes on")
	}
	if err := later.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "other.safetensors" {
		t.Errorf("%v, %v", left, err)
	}
	last := &checkpoint.Folder{Dir: dir}
	last.Open("other")
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

// TestDamaged: a file that is cut, altered, empty or of another kind is said and
// not used.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	f := &checkpoint.Folder{Dir: dir}
	if err := f.Save("k", some(1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "k.safetensors")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	altered := append([]byte{}, whole...)
	altered[len(altered)-1] ^= 1
	for name, damage := range map[string]func() error{
		"cut":     func() error { return os.WriteFile(file, whole[:len(whole)-4], 0o600) },
		"altered": func() error { return os.WriteFile(file, altered, 0o600) },
		"empty":   func() error { return os.WriteFile(file, nil, 0o600) },
		"kind":    func() error { return checkpoint.Write(file, "something else", some(1)) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		said := ""
		f.Say = func(message string, args ...any) { said = message + fmt.Sprint(args...) }
		if _, ok := f.Open("k"); ok || !strings.Contains(said, "from the beginning") {
			t.Errorf("%s: %v, %q", name, ok, said)
		}
	}
}
