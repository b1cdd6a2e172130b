package models

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// array writes an .npy file of rows.
func array(t *testing.T, path string, rows [][]float32) {
	t.Helper()
	var b bytes.Buffer
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", len(rows), len(rows[0]))
	b.WriteString("\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, 118)))
	fmt.Fprintf(&b, "%-117s\n", header)
	for _, row := range rows {
		for _, v := range row {
			must.Do(t, binary.Write(&b, binary.LittleEndian, v))
		}
	}
	must.Do(t, os.WriteFile(path, b.Bytes(), 0o644))
}

// captioned writes texts of classes, and embeddings of three images of all but the last
// class, made elsewhere.
func captioned(t *testing.T, l *commandtest.Bed) (texts, images string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	texts, images = l.Path("texts"), l.Path("images")
	named, listed := "class,text\n", "path,label\n"
	var of, seen [][]float32
	classes := []string{"ant", "bee", "cow", "dog"}
	for i, class := range classes {
		text := make([]float32, 16)
		for j := range text {
			text[j] = float32(rng.NormFloat64())
		}
		of, named = append(of, text), named+class+",a photo of it\n"
		for k := 0; k < 3 && i+1 < len(classes); k++ {
			row := make([]float32, len(text))
			for j, v := range text {
				row[j] = v + 0.4*float32(rng.NormFloat64()) + float32(j%2)
			}
			seen, listed = append(seen, row), listed+fmt.Sprintf("%s/%d.jpg,%s\n", class, k, class)
		}
	}
	for dir, table := range map[string]string{texts: named, images: listed} {
		must.Do(t, os.Mkdir(dir, 0o755))
		name := map[string]string{texts: "texts.csv", images: "samples.csv"}[dir]
		must.Do(t, os.WriteFile(l.Path(dir[len(l.Dir)+1:], name), []byte(table), 0o644))
	}
	array(t, l.Path("texts", "texts.npy"), of)
	array(t, l.Path("images", "embeddings.npy"), seen)
	return texts, images
}

// TestTrainOnNames: a model of names labels, learns images, forgets a name, and is exported;
// names that come later give the same probabilities.
func TestTrainOnNames(t *testing.T) {
	l := commandtest.NewBare(t)
	texts, images := captioned(t, l)
	named, both, later := l.Path("named.model"), l.Path("both.model"), l.Path("later.model")

	said := l.Must("train", "--texts", texts, "--out", named)
	if want := "the names of 4 classes, and no images yet"; !strings.Contains(said.Stderr+said.Stdout, want) {
		t.Errorf("train does not say %q:\n%s%s", want, said.Stdout, said.Stderr)
	}
	l.Must("label", named, "--features", images, "--out", l.Path("labels"))
	if text := string(l.Read(l.Path("labels", "labels.csv"))); strings.Count(text, "\nbee/") != 3 ||
		!strings.Contains(text, "bee.jpg,bee") && !strings.Contains(text, "bee/0.jpg,bee") {
		t.Errorf("labels:\n%s", text)
	}

	l.Must("learn", named, "--features", images)
	l.Must("train", "--texts", texts, "--features", images, "--out", both)
	l.Must("train", "--features", images, "--out", later)
	l.Must("learn", later, "--texts", texts)
	evaluations := map[string]string{}
	for _, m := range []string{named, both, later} {
		l.Must("eval", m, "--features", images, "--json", m+".json")
		evaluations[m] = string(l.Read(m + ".json"))
	}
	if evaluations[named] != evaluations[both] {
		t.Errorf("names first:\n%s\nnames and images:\n%s", evaluations[named], evaluations[both])
	}
	l.Must("export", both, "--onnx", l.Path("both.onnx"))
	l.Must("forget", both, "--class", "dog")
	if r := l.Must("inspect", both); !strings.Contains(r.Stdout, "the names of 3 classes") {
		t.Errorf("inspect:\n%s", r.Stdout)
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	l := commandtest.NewBare(t)
	texts, images := captioned(t, l)
	out := l.Path("x.model")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{command.ExitFailed, "no text side", []string{"--texts", l.Path("texts", "texts.csv"), "--backbone",
			testenv.Small(t)}},
		{command.ExitFailed, "texts.csv", []string{"--texts", images}},
		{command.ExitFailed, "plda does", []string{"--texts", texts, "--features", images, "--classifier", "ncm"}},
		{command.ExitFailed, "not projected", []string{"--texts", texts, "--features", images, "--dkl"}},
	} {
		l.Refused(c.code, []string{c.says}, append([]string{"train", "--out", out}, c.args...)...)
	}
	if l.Exists(out) {
		t.Error("a refused training has written a model")
	}
}
