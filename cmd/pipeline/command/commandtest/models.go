package commandtest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// Quickly adds settings that train a projection in no time.
func Quickly(args ...string) []string {
	args = append(args, "--dkl")
	for _, setting := range []string{
		"dkl.dim=10", "dkl.epochs=4", "dkl.pretrain=2", "dkl.keep=always", "dkl.steps=0", "dkl.batch=16",
		"dkl.inducing=2", "temperature=1",
	} {
		args = append(args, "--set", "classifier."+setting)
	}
	return args
}

// Relabelled returns a feature folder of two rows of a new class.
func (l *Bed) Relabelled(features string) string {
	l.Helper()
	dir := l.Path("more")
	if l.Exists(l.Path("more")) {
		return dir
	}
	rows := strings.SplitAfter(string(l.Read(l.Path("features", "samples.csv"))), "\n")
	var b bytes.Buffer
	for _, r := range rows {
		b.WriteString(strings.ReplaceAll(r, ",c0,", ",another,"))
	}
	l.copyFolder(features, dir)
	l.Write(l.Path("more", "samples.csv"), b.Bytes())
	return dir
}

// Features writes a feature folder of four classes with 22 rows each, without
// some of them.
func (l *Bed) Features(name string, without ...string) string {
	l.Helper()
	dir := l.Path(name)
	out := must.Get(featdir.NewWriter(dir, embedding.Provenance{Dim: 6}))(l)
	defer out.Abort()
	rng := rand.New(rand.NewPCG(7, 1))
	for _, class := range []string{"a", "b", "c", "d"} {
		centre := Cloud(rng, make([]float32, 6), 1)
		for i := range 22 {
			s := dataset.Sample{Path: fmt.Sprintf("%s/%02d.jpg", class, i), Label: class}
			row := Cloud(rng, centre, 0.6)
			if slices.Contains(without, s.Path) {
				continue
			}
			must.Do(l, out.Write(s, row))
		}
	}
	must.Do(l, out.Close())
	return dir
}

// SmallSide is the side of a photo in pixels that is enough for a contract.
const SmallSide = 48

// A Demo is what the demo has written into Dir, with a cache of its own, and printed.
type Demo struct{ Dir, Cache, Said string }

// Demo runs the demo, once for all tests of a package, which change nothing in its folder.
func (l *Bed) Demo() Demo {
	l.Helper()
	if common.demo.Said == "" {
		d := Demo{Dir: filepath.Join(common.dir, "sample"), Cache: filepath.Join(common.dir, "demo-cache")}
		r := l.RunWith(d.Cache, "demo", "--out", d.Dir)
		if r.Code != command.ExitDone {
			l.Fatalf("exit code %d: %s", r.Code, r.Stderr)
		}
		d.Said = r.Stdout
		common.demo = d
	}
	return common.demo
}

// Trained writes a base folder of three classes and trains a model on it. This is done once with the
// same args for all tests of a package, and copied with the cache; the photos are embedded once.
func (l *Bed) Trained(args ...string) (model, images string) {
	l.Helper()
	model, images = l.Path("base.model"), l.Path("base")
	if l.Exists(images) || l.Exists(l.Path("cache")) {
		l.train(args...)
		return model, images
	}
	l.copyFolder(l.trained(args...), l.Dir)
	return model, images
}

// trained returns the folder in which a model was trained with args.
func (l *Bed) trained(args ...string) string {
	l.Helper()
	key := fmt.Sprint(Network(), args)
	if dir, ok := common.trained[key]; ok {
		return dir
	}
	embedded := ""
	if len(args) > 0 {
		embedded = filepath.Join(l.trained(), "cache")
	}
	first := *l
	first.Dir = filepath.Join(common.dir, fmt.Sprint("trained", len(common.trained)))
	if embedded != "" {
		first.copyFolder(embedded, first.Path("cache"))
	}
	first.train(args...)
	if common.trained == nil {
		common.trained = map[string]string{}
	}
	common.trained[key] = first.Dir
	return first.Dir
}

func (l *Bed) train(args ...string) {
	l.Helper()
	images := l.Photos(l.Path("base"), SmallSide, 8, "kiwi", "lime", "plum")
	l.Must(append([]string{"train", "--images", images, "--out", l.Path("base.model")}, args...)...)
}

// Foreign writes a feature folder of two files as another program would.
func (l *Bed) Foreign(dim int) string {
	l.Helper()
	w := must.Get(featdir.NewWriter(l.Path("foreign"), embedding.Provenance{Dim: dim}))(l)
	defer w.Abort()
	for i := range 12 {
		row := make([]float32, dim)
		for j := range row {
			row[j] = float32(math.Sin(float64(i%3*7+j)) + 0.1*math.Cos(float64(i*31+j)))
		}
		must.Do(l, w.Write(dataset.Sample{Path: fmt.Sprint(i), Label: []string{"a", "b", "c"}[i%3]}, row))
	}
	must.Do(l, w.Close())
	must.Do(l, os.Remove(l.Path("foreign", "meta.json")))
	return l.Path("foreign")
}

// Clouds writes a feature folder with three recorded sessions: 4, 2 and 2
// classes, 20 or 3 training rows and 10 test rows each.
func (l *Bed) Clouds(dir string) string {
	l.Helper()
	return l.ManyClouds(dir, 4, 20)
}

// ManyClouds is Clouds with another first session: its classes, and their training
// rows.
func (l *Bed) ManyClouds(dir string, base, rows int) string {
	l.Helper()
	out := must.Get(featdir.NewWriter(dir, embedding.Provenance{Dim: 8}))(l)
	defer out.Abort()
	rng := rand.New(rand.NewPCG(1, 2))
	for class := range base + 4 {
		session, shots := 1, rows
		if class >= base {
			session, shots = 2+(class-base)/2, 3
		}
		centre := Cloud(rng, make([]float32, 8), 1)
		for i := range shots + 10 {
			s := dataset.Sample{
				Path: fmt.Sprintf("c%d/%02d.jpg", class, i), Label: fmt.Sprintf("c%d", class),
				Split: "train", Session: fmt.Sprint(session),
			}
			if i >= shots {
				s.Split = "test"
			}
			must.Do(l, out.Write(s, Cloud(rng, centre, 0.5)))
		}
	}
	must.Do(l, out.Close())
	return dir
}

// Cloud draws a point around a centre.
func Cloud(rng *rand.Rand, centre []float32, width float64) []float32 {
	x := slices.Clone(centre)
	for i := range x {
		x[i] += float32(width * rng.NormFloat64())
	}
	return x
}
