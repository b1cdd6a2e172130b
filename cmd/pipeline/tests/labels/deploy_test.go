//go:build unix

package labels

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestSlurmRecipe: the tasks of the array job label everything once, and a
// photo that cannot be read fails no task. The README's two lines make one
// table of the parts.
func TestSlurmRecipe(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	l.Write(filepath.Join(images, "broken.jpg"), []byte("no picture"))
	script := must.Get(filepath.Abs("../../../../deploy/slurm/label.sbatch"))(t)
	for i := 1; i <= 3; i++ {
		cmd := exec.Command("bash", script, model, images, l.Path("labels"))
		cmd.Env = append(l.OnPath(), "SLURM_ARRAY_TASK_COUNT=3", fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i),
			"PIPELINE_CACHE="+l.Path("cache"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("task %d: %v\n%s", i, err, out)
		}
	}
	for i := 1; i <= 3; i++ {
		if !l.Exists(l.Path("labels", fmt.Sprintf("shard-%d-of-3", i), "labels.parquet")) {
			t.Errorf("part %d is missing", i)
		}
		l.Run("label", model, "--images", images, "--out", l.Path("csv"), "--shard", fmt.Sprintf("%d/3", i))
	}
	l.Expect(command.ExitPartial, "label", model, "--images", images, "--out", l.Path("whole"))
	cmd := exec.Command("bash", "-c",
		"head -n 1 csv/shard-1-of-3/labels.csv; tail -q -n +2 csv/shard-*-of-3/labels.csv | LC_ALL=C sort")
	cmd.Dir = l.Dir
	got, err := cmd.Output()
	if err != nil || string(got) != string(l.Read(l.Path("whole"), "labels.csv")) {
		t.Errorf("%v: the parts give\n%s", err, got)
	}
}

// TestKubernetesRecipe runs the command of the job's container as pods do.
func TestKubernetesRecipe(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	text := string(l.Read("../../../../deploy/kubernetes/label-job.yaml"))
	_, command, found := strings.Cut(text, "- |\n")
	command, _, ended := strings.Cut(command, "          resources:")
	if !found || !ended || !strings.Contains(text, "completions: 16") ||
		!strings.Contains(text, `{name: PARTS, value: "16"}`) {
		t.Fatal("the job does not look as this test thinks")
	}
	command = strings.NewReplacer("/results/photos.model", model, "/results", l.Path("results"), "/photos",
		images).Replace(command)
	for i := range 2 {
		cmd := exec.Command("sh", "-c", command)
		cmd.Env = append(l.OnPath(), "PARTS=2", fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("pod %d: %v\n%s", i, err, out)
		}
		if !l.Exists(l.Path("results", "labels", fmt.Sprintf("shard-%d-of-2", i+1), "summary.json")) {
			t.Errorf("pod %d left nothing", i)
		}
	}
}
