package research

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

// digits writes IDX files of 3×3 images of ten digits.
func digits(l *commandtest.Bed, dir string) string {
	l.Helper()
	rng := rand.New(rand.NewPCG(5, 2))
	for part, n := range map[string]int{"train": 60, "t10k": 20} {
		images, labels := []byte{0, 0, 8, 3}, []byte{0, 0, 8, 1}
		for _, side := range []uint32{uint32(n), 3, 3} {
			images = binary.BigEndian.AppendUint32(images, side)
		}
		labels = binary.BigEndian.AppendUint32(labels, uint32(n))
		for i := range n {
			labels = append(labels, byte(i%10))
			for pixel := range 9 {
				images = append(images, byte(200*((i%10>>(pixel%4))&1)+rng.IntN(20)))
			}
		}
		l.Write(l.Path(dir, part+"-images-idx3-ubyte"), images)
		l.Write(l.Path(dir, part+"-labels-idx1-ubyte"), labels)
	}
	return l.Path(dir)
}

// TestTablesOfAbsentData: the configurations whose data nobody may pass on run on data of the same
// shape, write published rows beside ours, and a second run has nothing to do. Without data the
// error says where they are.
func TestTablesOfAbsentData(t *testing.T) {
	l := commandtest.New(t)
	features, mnist := l.ManyClouds(l.Path("features"), 6, 8), digits(l, "mnist")
	fscil := []string{"fscil", "--features", features, "--set", "fscil.track=pretrained-disjoint", "--set",
		"fscil.runs=1", "--set", "classifier.temperature=1", "--set", "classifier.gptree.max_per_class=20", "--set",
		"classifier.gptree.chains=2"}
	vargp := []string{"experiment", "--set", "experiment.vargp.folder=" + mnist, "--set",
		"experiment.vargp.epochs=1", "--set", "experiment.vargp.seeds=1", "--set", "experiment.vargp.inducing=2",
		"--set", "experiment.vargp.variants=var-gp"}
	for _, c := range []struct {
		config, row, cell string
		args              []string
	}{
		{"cub200_table3", "TOPIC", "62.49", fscil},
		{"cub200_table4", "GP-Tree, Rebuild Tree", "63.50", fscil},
		{"cub200_fig5", "TOPIC", "62.49", fscil},
		{"cub200_dkl", "TOPIC", "62.49", append(fscil, "--dkl", "--set", "classifier.dkl.epochs=2", "--set",
			"classifier.dkl.pretrain=1", "--set", "classifier.dkl.steps=1", "--set", "classifier.dkl.dim=4")},
		{"cub200_table1", "GP-Tree (paper)", "97.93", []string{"experiment", "--features", features, "--set",
			"experiment.closedset.classes=4,6", "--set", "experiment.closedset.runs=1", "--set",
			"experiment.closedset.grid_runs=1", "--set", "experiment.closedset.grid_most=4", "--set",
			"experiment.closedset.per_class=4", "--set", "experiment.closedset.held_out=4", "--set",
			"classifier.lsm.chains=1", "--set", "classifier.ove.chains=1", "--set", "classifier.gptree.chains=1"}},
		{"vargp_split_mnist", "VCL [100] + CS(100) (paper)", "81.90 ± 1.64", vargp},
		{"vargp_permuted_mnist", "EWC (paper)", "84.11", append(vargp, "--set", "experiment.vargp.tasks=2")},
	} {
		args := append(slices.Clone(c.args), "--config", c.config, "--out", l.Path(c.config))
		l.Must(args...)
		first := l.Read(l.Path(c.config, "table.csv"))
		if text := string(first); !strings.Contains(text, c.row) || !strings.Contains(text, c.cell) {
			t.Errorf("%s has no published row %s with %s:\n%s", c.config, c.row, c.cell, text)
		}
		if r := l.Must(args...); strings.Contains(r.Stderr, "finished part") {
			t.Errorf("%s: a second run works again: %s", c.config, r.Stderr)
		}
		l.Same(c.config, first, l.Path(c.config, "table.csv"))
	}
	out := []string{"--out", l.Path("none")}
	l.Refused(command.ExitUsage, []string{"data.caltech.edu", "97eceeb1"}, append([]string{"fscil", "--config",
		"cub200_table3"}, out...)...)
	l.Refused(command.ExitFailed, []string{"cs.toronto.edu", "nowhere"}, append([]string{"fscil", "--config",
		"cifar10_table2", "--images", l.Path("nowhere"), "--lists", l.Dir}, out...)...)
	l.Refused(command.ExitUsage, []string{"mnist/"}, append([]string{"experiment", "--config",
		"vargp_split_mnist"}, out...)...)
}
