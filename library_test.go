package pipeline_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// want are what the programs of docs/library.md print, by their order.
var want = []string{
	"trained on 20 photos: [grass sky]\nit knows [grass sky sand]\n",
	"1.png sand\n2.png sky\n",
	"",
	"2 labelled\n",
	"map[grass:1 sky:1]\n",
	"newt\n",
	"mine [grass sky]\n",
}

// TestPrograms builds the programs of docs/library.md in a module of their own, as users do, and runs
// them one after the other in a folder of painted photos.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("the programs are built without the race detector")
	}
	page := must.Get(os.ReadFile("docs/library.md"))(t)
	programs := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindAllSubmatch(page, -1)
	if len(programs) != len(want) {
		t.Fatalf("%d programs, want %d", len(programs), len(want))
	}
	module, work := newModule(t), t.TempDir()
	paint(t, work)
	for i, program := range programs {
		const mostLines = 30
		if n := len(regexp.MustCompile(`(?m)^.+$`).FindAll(program[1], -1)); n > mostLines {
			t.Errorf("program %d has %d lines", i+1, n)
		}
		write(t, filepath.Join(module, fmt.Sprint("program", i+1), "main.go"), program[1])
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", work, "./...")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i := range programs {
		run := exec.Command(filepath.Join(work, fmt.Sprint("program", i+1)))
		run.Dir = work
		var said strings.Builder
		run.Stderr = &said
		out, err := run.Output()
		if err != nil {
			t.Fatalf("program %d: %v\n%s", i+1, err, &said)
		}
		if i == 1 && !strings.Contains(said.String(), "broken.png") {
			t.Errorf("the photo that cannot be read is not named: %s", &said)
		}
		if string(out) != want[i] {
			t.Errorf("program %d printed %q, want %q", i+1, out, want[i])
		}
	}
	table, err := os.ReadFile(filepath.Join(work, "labels", "labels.csv"))
	if err != nil || !strings.Contains(string(table), "\n1.png,grass,") {
		t.Errorf("the photo that was corrected is labelled otherwise: %s, %v", table, err)
	}
}

// newModule makes a module that requires this one.
func newModule(t *testing.T) string {
	t.Helper()
	root := must.Get(os.Getwd())(t)
	own := must.Get(os.ReadFile("go.mod"))(t)
	sums := must.Get(os.ReadFile("go.sum"))(t)
	const path = "github.com/seed-90d10d51/pipeline"
	mod := strings.Replace(string(own), "module "+path, "module example.org/programs", 1)
	mod += fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", path, path, root)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), []byte(mod))
	write(t, filepath.Join(dir, "go.sum"), sums)
	return dir
}

// paint makes photos of grass, sky and sand, which differ in colour.
func paint(t *testing.T, dir string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	colours := map[string]color.RGBA{
		"grass": {40, 160, 40, 255}, "sky": {90, 150, 240, 255}, "sand": {220, 200, 120, 255},
	}
	photo := func(class, file string) {
		c := colours[class]
		img := image.NewRGBA(image.Rect(0, 0, 64, 64))
		for i := range img.Pix {
			v := [4]uint8{c.R, c.G, c.B, c.A}[i%4]
			if i%4 < 3 {
				v += uint8(r.IntN(30)) - 15
			}
			img.Pix[i] = v
		}
		var text strings.Builder
		must.Do(t, png.Encode(&text, img))
		write(t, filepath.Join(dir, "photos", file), []byte(text.String()))
	}
	for i := range 10 {
		photo("grass", fmt.Sprintf("train/grass/%d.png", i))
		photo("sky", fmt.Sprintf("train/sky/%d.png", i))
		photo("sand", fmt.Sprintf("new/sand/%d.png", i))
	}
	photo("sand", "holiday/1.png")
	photo("sky", "holiday/2.png")
	write(t, filepath.Join(dir, "photos/holiday/broken.png"), []byte("no photo"))
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, data, 0o644))
}
