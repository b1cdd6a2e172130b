package ablation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/heads"
	"github.com/seed-90d10d51/pipeline/experiment"
	"github.com/seed-90d10d51/pipeline/experiment/ablation"
	"github.com/seed-90d10d51/pipeline/fscil"
)

// bench is three sessions of two classes, which differ in spread alone, so
// that means say nothing and components everything.
func bench(t *testing.T) *fscil.Bench {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	x := blas32.General{Cols: 8, Stride: 8}
	var paths []string
	var content [][32]byte
	sessions := make([]fscil.Session, 3)
	for class := range 6 {
		for i := range 60 {
			s := fscil.Sample{Path: fmt.Sprintf("%d/%d", class, i), Class: fmt.Sprint(class)}
			for j := range 8 {
				width := 0.1
				if j == class {
					width = 3
				}
				x.Data = append(x.Data, float32(width*rng.NormFloat64()))
			}
			paths, content = append(paths, s.Path), append(content, [32]byte{byte(class), byte(i)})
			part := &sessions[class/2].Train
			if i >= 40 {
				part = &sessions[class/2].Test
			}
			*part = append(*part, s)
		}
	}
	x.Rows = len(paths)
	e, err := fscil.NewEmbeddings(x, paths, content)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fscil.New(sessions)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bind(e)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCells: every cell is the accuracy of that head, in its place in the
// tables; one component is what these classes need.
func TestCells(t *testing.T) {
	b := bench(t)
	settings := heads.DefaultConfig()
	settings.PPCA.Preset = "paper"
	c := ablation.Config{Inputs: []string{"x=somewhere"}, Q: []int{0, 1, 5}, Lambda: []float64{0.01, 1}, Published: "table3_3"}
	o, err := ablation.Run(context.Background(), c, experiment.Site{
		Dir: t.TempDir(), Heads: settings,
		Open: func(string) (experiment.Material, error) {
			return experiment.Material{Benches: []*fscil.Bench{b}, Fingerprint: "f"}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	results := o.Results.(ablation.Results).Results
	if len(results) != 6 || results[0].Accuracy > 0.5 || results[1].Accuracy < 0.9 {
		t.Fatalf("%+v", results)
	}
	for i, r := range results {
		settings.PPCA.Q, settings.PPCA.Lambda = r.Q, r.Lambda
		run, err := b.Run(context.Background(), func() (classifier.Learner, error) { return heads.New("ppca", settings) }, nil)
		if err != nil || run.Sessions[2].Accuracy != r.Accuracy || run.Sessions[2].Base != r.Base {
			t.Errorf("q %d, λ %g: %v, %v", r.Q, r.Lambda, r.Accuracy, err)
		}
		cell := experiment.Percent(r.Accuracy)
		if got := o.Tables[0].Rows[i/3][3+i%3]; got != cell {
			t.Errorf("by q: %s, want %s", got, cell)
		}
		if got := o.Tables[1].Rows[i%3][2+i/3]; got != cell {
			t.Errorf("by lambda: %s, want %s", got, cell)
		}
	}
	if row := strings.Join(o.Tables[0].Rows[4], ";"); row != "128×128;0.01;Wang 2023, Table 3.3, CIFAR-100, SWSL;–;–;73.53" {
		t.Errorf("published row %q", row)
	}
	if len(o.Figures) != 2 {
		t.Errorf("%d figures", len(o.Figures))
	}
}
