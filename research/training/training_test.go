package training_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/checkpoint"
	"github.com/seed-90d10d51/pipeline/dkl"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/linalg"
	"github.com/seed-90d10d51/pipeline/research/training"
)

func trainer(t testing.TB, seed uint64) *dkl.Trainer {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	e := dkl.Examples{X: dense.New32(60, 5)}
	for i := range 60 {
		e.Y = append(e.Y, fmt.Sprint(i%4))
		for j := range 5 {
			e.X.Data[i*5+j] = float32(rng.NormFloat64())
		}
		e.X.Data[i*5+i%4] += 3
	}
	cfg := dkl.DefaultTraining()
	cfg.Dim, cfg.Epochs, cfg.Pretrain, cfg.Steps, cfg.Batch, cfg.Inducing, cfg.Seed = 6, 5, 2, 0, 16, 2, seed
	return must.Get(dkl.NewTrainer(cfg, gptree.DefaultConfig(), e, linalg.Backend{}))(t)
}

func job(dir string) training.Job { return training.Job{Folder: &checkpoint.Folder{Dir: dir}} }

func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	list := must.Get(os.ReadDir(dir))(t)
	out := make(map[string][]byte)
	for _, f := range list {
		out[f.Name()] = must.Get(os.ReadFile(filepath.Join(dir, f.Name())))(t)
	}
	return out
}

// A training stopped after every epoch, resumed by a new trainer each time and
// left with a truncated file, as after a kill, gives the same files as an
// uninterrupted one.
func TestStoppedTrainingEndsWithTheSameBytes(t *testing.T) {
	whole, cut := t.TempDir(), t.TempDir()
	must.Do(t, job(whole).Train(context.Background(), trainer(t, 1)))
	for epochs := 1; epochs <= 5; epochs++ {
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		err := training.Job{Folder: &checkpoint.Folder{Dir: cut, Say: func(message string, _ ...any) {
			if message == "trained" {
				if seen++; epochs < 5 {
					cancel()
				}
			}
		}}}.Train(ctx, trainer(t, 1))
		cancel()
		if (err == nil) != (epochs == 5) || seen != 1 {
			t.Fatalf("run %d: %d epochs, %v", epochs, seen, err)
		}
		must.Do(t, os.WriteFile(filepath.Join(cut, ".checkpoint.safetensors.tmp-pipeline-0"), []byte("half"),
			0o600))
	}
	must.Do(t, job(cut).Train(context.Background(), trainer(t, 1)))
	want, got := files(t, whole), files(t, cut)
	for name, b := range want {
		if !bytes.Equal(got[name], b) {
			t.Errorf("%s differs", name)
		}
	}
	for _, name := range []string{"checkpoint.safetensors", "training.csv", "training.png", "training.svg", "loss.png",
		"loss.svg"} {
		if want[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	if text := string(want["training.csv"]); !strings.HasPrefix(text,
		"epoch,phase,rate,loss,accuracy,nll\n1,cross-entropy,0.01,") || strings.Count(text, "\n") != 6 {
		t.Errorf("training.csv: %s", text)
	}
}

func TestCheckpointsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, job(dir).Train(context.Background(), trainer(t, 1)))
	file := filepath.Join(dir, "checkpoint.safetensors")
	whole := must.Get(os.ReadFile(file))(t)
	reason := func(f *checkpoint.Folder, seed uint64) (first string) {
		f.Dir, f.Say = dir, func(message string, args ...any) {
			if first == "" {
				first = fmt.Sprint(message, args)
			}
		}
		must.Do(t, (training.Job{Folder: f}).Train(context.Background(), trainer(t, seed)))
		return first
	}
	if r := reason(&checkpoint.Folder{}, 1); !strings.Contains(r, "goes on") {
		t.Error(r)
	}
	if r := reason(&checkpoint.Folder{Restart: true}, 1); !strings.HasPrefix(r, "trained") {
		t.Error(r)
	}
	if r := reason(&checkpoint.Folder{}, 2); !strings.Contains(r, "other settings") {
		t.Error(r)
	}
	for name, b := range map[string][]byte{"cut": whole[:len(whole)/2],
		"altered": append(append([]byte{}, whole[:len(whole)-50]...), make([]byte, 50)...), "empty": nil} {
		must.Do(t, os.WriteFile(file, b, 0o600))
		if r := reason(&checkpoint.Folder{}, 1); !strings.Contains(r, "from the beginning") {
			t.Errorf("%s: %s", name, r)
		}
	}
}

// TestStatesOfTrainings: Env keeps the states of both kinds of training, which a further run
// goes on from, and Finish removes them and nothing else.
func TestStatesOfTrainings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m.dkl")
	if err := training.Finish(dir); err != nil {
		t.Errorf("nothing was trained: %v", err)
	}
	var said []string
	env := training.Env(dir, false, false, func(message string, _ ...any) { said = append(said, message) })
	for range 2 {
		for _, run := range []func(context.Context, *dkl.Trainer) error{env.Try, env.Train} {
			must.Do(t, run(context.Background(), trainer(t, 1)))
		}
	}
	if n := strings.Count(strings.Join(said, "\n"), "training goes on"); n != 1 {
		t.Errorf("went on %d times: %q", n, said)
	}
	tried, err := filepath.Glob(filepath.Join(dir, "compared", "*", "checkpoint.safetensors"))
	if err != nil || len(tried) != 1 {
		t.Errorf("trainings to compare: %q, %v", tried, err)
	}
	must.Do(t, training.Finish(dir))
	left := files(t, dir)
	if left["checkpoint.safetensors"] != nil || left["training.csv"] == nil || len(left) != 5 {
		t.Errorf("left %d files", len(left))
	}
}

func TestKeyedFoldersKeepApart(t *testing.T) {
	dir := t.TempDir()
	for _, seed := range []uint64{1, 2, 1} {
		must.Do(t, (training.Job{Folder: &checkpoint.Folder{Dir: dir}, Keyed: true}).Train(context.Background(),
			trainer(t, seed)))
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}
