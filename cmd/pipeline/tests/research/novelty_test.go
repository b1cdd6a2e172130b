package research

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/featdir"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// unknownDraws is the number of draws of 20 classes.
const unknownDraws = 5

// unknownClasses measures how well each head tells 20 unknown classes from the
// others: of those the first five photos of each class train, and the last five of
// every class are tested.
func unknownClasses(l *commandtest.Bed, t *testing.T, photos, vit string) {
	l.Must("embed", "--images", photos, "--backbone", vit, "--out", l.Path("features"))
	f := must.Get(featdir.Read(l.Path("features")))(t)
	// The mean over the draws, measured once; 0.005 allows for another machine.
	for _, c := range []struct {
		head string
		mean float64
	}{{"ncm", 0.879}, {"plda", 0.883}, {"ppca", 0.884}} {
		var auroc []float64
		for draw := range unknownDraws {
			train, test := holdOut(l, f, uint64(draw))
			model, file := l.Path(c.head+".model"), l.Path("e.json")
			l.Must("train", "--features", train, "--classifier", c.head, "--set", "classifier.temperature=1", "--set",
				"classifier.statistics=false", "--out", model)
			l.Must("eval", model, "--features", test, "--json", file)
			auroc = append(auroc, l.Object(file)["novelty_auroc"].(float64))
		}
		mean, sem := meanAndSEM(auroc)
		t.Logf("%s: AUROC of unknown classes %.4f ± %.4f (SEM over %d draws)", c.head, mean, sem, unknownDraws)
		if math.Abs(mean-c.mean) > 0.005 {
			t.Errorf("%s: AUROC %.4f, was %.4f", c.head, mean, c.mean)
		}
	}
}

// holdOut writes two feature folders: five photos of every class except 20 that
// are drawn, and five others of every class.
func holdOut(l *commandtest.Bed, f embedding.Embeddings, draw uint64) (train, test string) {
	l.Helper()
	byClass := map[string][]int{}
	var classes []string
	for i, s := range f.Samples {
		if byClass[s.Label] == nil {
			classes = append(classes, s.Label)
		}
		byClass[s.Label] = append(byClass[s.Label], i)
	}
	slices.Sort(classes)
	rand.New(rand.NewPCG(draw, 20)).Shuffle(len(classes),
		func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	var learn, try []int
	for k, class := range classes {
		rows := byClass[class]
		slices.SortFunc(rows, func(i, j int) int {
			if f.Samples[i].Path < f.Samples[j].Path {
				return -1
			}
			return 1
		})
		if k >= 20 {
			learn = append(learn, rows[:5]...)
		}
		try = append(try, rows[5:]...)
	}
	return part(l, f, fmt.Sprint("train", draw), learn), part(l, f, fmt.Sprint("test", draw), try)
}

// part writes some rows as a feature folder.
func part(l *commandtest.Bed, f embedding.Embeddings, name string, rows []int) string {
	l.Helper()
	dir := filepath.Join(l.Dir, name)
	if l.Exists(dir) {
		return dir
	}
	w := must.Get(featdir.NewWriter(dir, embedding.Provenance{Dim: f.X.Cols}))(l)
	defer w.Abort()
	for _, i := range rows {
		must.Do(l, w.Write(f.Samples[i], f.X.Data[i*f.X.Stride:i*f.X.Stride+f.X.Cols]))
	}
	must.Do(l, w.Close())
	return dir
}

func meanAndSEM(values []float64) (mean, sem float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		sem += (v - mean) * (v - mean) / (n - 1) / n
	}
	return mean, math.Sqrt(sem)
}
