//go:build unix

package labels

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

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

// TestKubernetesService: the Deployment asks for paths that a service answers, is not root, and is what the
// Service selects.
func TestKubernetesService(t *testing.T) {
	text := must.Get(os.ReadFile("../../../../deploy/kubernetes/serve.yaml"))(t)
	var deployment struct {
		Kind string
		Spec struct {
			Selector struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			}
			Template struct {
				Metadata struct{ Labels map[string]string }
				Spec     struct {
					SecurityContext struct {
						RunAsNonRoot bool `yaml:"runAsNonRoot"`
					} `yaml:"securityContext"`
					Containers []struct {
						Args           []string
						LivenessProbe  map[string]map[string]string `yaml:"livenessProbe"`
						ReadinessProbe map[string]any               `yaml:"readinessProbe"`
						Ports          []struct {
							Name string
							Port int `yaml:"containerPort"`
						}
					}
				}
			}
		}
	}
	var service struct {
		Kind string
		Spec struct{ Selector map[string]string }
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	must.Do(t, d.Decode(&deployment))
	must.Do(t, d.Decode(&service))
	pod := deployment.Spec.Template
	c := pod.Spec.Containers[0]
	if deployment.Kind != "Deployment" || service.Kind != "Service" || !pod.Spec.SecurityContext.RunAsNonRoot ||
		!maps.Equal(pod.Metadata.Labels, service.Spec.Selector) ||
		!maps.Equal(pod.Metadata.Labels, deployment.Spec.Selector.MatchLabels) || c.Args[0] != "serve" ||
		!slices.Contains(c.Args, fmt.Sprintf("0.0.0.0:%d", c.Ports[0].Port)) {
		t.Errorf("%+v\n%+v", deployment, service)
	}
	if got := c.LivenessProbe["httpGet"]; got["path"] != "/healthz" || got["port"] != c.Ports[0].Name {
		t.Errorf("liveness: %v", got)
	}
	ready, _ := c.ReadinessProbe["httpGet"].(map[string]any)
	if ready["path"] != "/readyz" || ready["port"] != c.Ports[0].Name {
		t.Errorf("readiness: %v", c.ReadinessProbe)
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
