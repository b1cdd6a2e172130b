//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onPath makes the test binary the program "pipeline" of shell scripts.
func (l *testbed) onPath() []string {
	l.Helper()
	self, err := os.Executable()
	if err != nil {
		l.Fatal(err)
	}
	l.write(l.path("bin", "pipeline"), fmt.Appendf(nil, "#!/bin/sh\nexec %q \"$@\"\n", self))
	if err := os.Chmod(l.path("bin", "pipeline"), 0o755); err != nil {
		l.Fatal(err)
	}
	return append(l.env, "PATH="+l.path("bin")+":"+os.Getenv("PATH"))
}

// TestSlurmRecipe: the tasks of the array job label everything once, and a
// photo that cannot be read fails no task. The README's two lines make one
// table of the parts.
func TestSlurmRecipe(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	l.write(filepath.Join(images, "broken.jpg"), []byte("no picture"))
	script, err := filepath.Abs("../../deploy/slurm/label.sbatch")
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i <= 3; i++ {
		cmd := exec.Command("bash", script, model, images, l.path("labels"))
		cmd.Env = append(l.onPath(), "SLURM_ARRAY_TASK_COUNT=3", fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i), "PIPELINE_CACHE="+l.path("cache"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("task %d: %v\n%s", i, err, out)
		}
	}
	for i := 1; i <= 3; i++ {
		if !l.exists(l.path("labels", fmt.Sprintf("shard-%d-of-3", i), "labels.parquet")) {
			t.Errorf("part %d is missing", i)
		}
		l.run("label", model, "--images", images, "--out", l.path("csv"), "--shard", fmt.Sprintf("%d/3", i))
	}
	l.expect(exitPartial, "label", model, "--images", images, "--out", l.path("whole"))
	cmd := exec.Command("bash", "-c", "head -n 1 csv/shard-1-of-3/labels.csv; tail -q -n +2 csv/shard-*-of-3/labels.csv | LC_ALL=C sort")
	cmd.Dir = l.dir
	got, err := cmd.Output()
	if err != nil || string(got) != string(l.read(l.path("whole"), "labels.csv")) {
		t.Errorf("%v: the parts give\n%s", err, got)
	}
}

// TestKubernetesRecipe runs the command of the job's container as pods do.
func TestKubernetesRecipe(t *testing.T) {
	l := newTestbed(t)
	model, images := l.trained()
	text := string(l.read("../../deploy/kubernetes/label-job.yaml"))
	_, command, found := strings.Cut(text, "- |\n")
	command, _, ended := strings.Cut(command, "          resources:")
	if !found || !ended || !strings.Contains(text, "completions: 16") || !strings.Contains(text, `{name: PARTS, value: "16"}`) {
		t.Fatal("the job does not look as this test thinks")
	}
	command = strings.NewReplacer("/results/photos.model", model, "/results", l.path("results"), "/photos", images).Replace(command)
	for i := range 2 {
		cmd := exec.Command("sh", "-c", command)
		cmd.Env = append(l.onPath(), "PARTS=2", fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("pod %d: %v\n%s", i, err, out)
		}
		if !l.exists(l.path("results", "labels", fmt.Sprintf("shard-%d-of-2", i+1), "summary.json")) {
			t.Errorf("pod %d left nothing", i)
		}
	}
}
