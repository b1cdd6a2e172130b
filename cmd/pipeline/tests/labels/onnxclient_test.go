package labels

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Where the clients find what they need; read before the tests forget the settings of the user.
var clientPython, clientModules = os.Getenv("PIPELINE_PYTHON"), os.Getenv("PIPELINE_NODE_MODULES")

// exported trains on photos of several shapes, and exports the model with its preprocessing. It returns the file,
// the photos' paths, and what label says of them.
func exported(l *commandtest.Bed) (file string, paths []string, labels map[string]string) {
	l.Helper()
	photos, t := l.Path("photos"), l.TB
	for c, class := range []string{"ant", "bee", "cat"} {
		for i := range 8 {
			l.Write(l.Path("photos", class, fmt.Sprintf("%d.png", i)), drawing(t, c, i))
		}
	}
	l.Must("train", "--images", photos, "--out", l.Path("m.model"))
	l.Must("export", l.Path("m.model"), "--onnx", l.Path("m.onnx"), "--with-preprocess")
	l.Must("label", l.Path("m.model"), "--images", photos, "--out", l.Path("labels"))
	labels = map[string]string{}
	table := csv.NewReader(bytes.NewReader(l.Read(l.Path("labels", "labels.csv"))))
	for _, row := range must.Get(table.ReadAll())(t)[1:] {
		path := filepath.Join(photos, row[0])
		paths, labels[path] = append(paths, path), row[1]
	}
	return l.Path("m.onnx"), paths, labels
}

// drawing is a PNG with stripes of a class, of a shape that depends on its number.
func drawing(t testing.TB, class, number int) []byte {
	picture := image.NewRGBA(image.Rect(0, 0, 90+17*number, 200-13*number))
	for i := range picture.Pix {
		at := i / 4
		x, y := at%picture.Rect.Dx(), at/picture.Rect.Dx()
		picture.Pix[i] = byte((x*[]int{1, 3, 7}[class] + y*[]int{5, 1, 2}[class] + 40*(i%4) + 9*number) % 256)
		if i%4 == 3 {
			picture.Pix[i] = 255
		}
	}
	var out bytes.Buffer
	must.Do(t, png.Encode(&out, picture))
	return out.Bytes()
}

// clientOf returns the program in a language that the page about formats shows.
func clientOf(t *testing.T, language string) string {
	t.Helper()
	page := string(must.Get(os.ReadFile("../../../../docs/formats-model.md"))(t))
	_, rest, ok := strings.Cut(page, "```"+language+"\n")
	code, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("docs/formats-model.md has no program in %s", language)
	}
	return code
}

// TestONNXClientInPython: twenty lines that know nothing of the program label as it does.
func TestONNXClientInPython(t *testing.T) {
	python := clientPython
	if exec.Command(python, "-c", "import onnxruntime, PIL").Run() != nil {
		t.Skip("needs a Python with onnxruntime and Pillow in PIPELINE_PYTHON")
	}
	file, paths, labels := exported(commandtest.New(t))
	client := filepath.Join(t.TempDir(), "client.py")
	must.Do(t, os.WriteFile(client, []byte(clientOf(t, "python")), 0o600))
	out, err := exec.Command(python, append([]string{client, file}, paths...)...).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != len(paths) {
		t.Fatalf("%v: %s", err, out)
	}
	for _, line := range lines {
		if fields := strings.Split(line, "\t"); labels[fields[0]] != fields[1] {
			t.Errorf("%s, and %s by label", line, labels[fields[0]])
		}
	}
}

// TestONNXClientInJavaScript: the same with what a browser runs.
func TestONNXClientInJavaScript(t *testing.T) {
	modules := clientModules
	if _, err := os.Stat(filepath.Join(modules, "onnxruntime-web", "package.json")); err != nil {
		t.Skip("needs Node and onnxruntime-web in the folder PIPELINE_NODE_MODULES")
	}
	file, paths, labels := exported(commandtest.New(t))
	dir := t.TempDir()
	must.Do(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	for i, path := range paths {
		picture := must.Get(png.Decode(bytes.NewReader(must.Get(os.ReadFile(path))(t))))(t).(*image.RGBA)
		head := fmt.Sprintf("%d %d\n", picture.Rect.Dx(), picture.Rect.Dy())
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), append([]byte(head), picture.Pix...), 0o600))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "client.mjs"), []byte(clientOf(t, "js")), 0o600))
	const program = `
import { readFileSync } from "node:fs";
import { labeller } from "./client.mjs";
const label = await labeller(new Uint8Array(readFileSync(process.argv[2])));
const answers = [];
for (let i = 0; i < Number(process.argv[3]); i++) {
  const bytes = readFileSync(String(i));
  const end = bytes.indexOf(10);
  const [width, height] = bytes.subarray(0, end).toString().split(" ").map(Number);
  answers.push((await label({ width, height, data: new Uint8ClampedArray(bytes.subarray(end + 1)) })).label);
}
console.log(JSON.stringify(answers));
`
	must.Do(t, os.WriteFile(filepath.Join(dir, "main.mjs"), []byte(program), 0o600))
	cmd := exec.Command("node", "main.mjs", file, fmt.Sprint(len(paths)))
	cmd.Dir = dir
	out, err := cmd.Output()
	var answers []string
	if err != nil || json.Unmarshal(out, &answers) != nil || len(answers) != len(paths) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, answer := range answers {
		if answer != labels[paths[i]] {
			t.Errorf("%s: %s, and %s by label", paths[i], answer, labels[paths[i]])
		}
	}
}
