package research

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/configs"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// TestFSCILBesideResults: a new folder beside one that is called results, as the
// examples call theirs, is written, and nothing else appears there.
func TestFSCILBesideResults(t *testing.T) {
	l := commandtest.New(t)
	features := l.Clouds(l.Path("clouds"))
	for _, name := range []string{"results", "others"} {
		l.Must("fscil", "--features", features, "--classifier", "ncm", "--out", l.Path("out", name))
	}
	if entries, err := os.ReadDir(l.Path("out")); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestFSCILFromFeatures: the documented files and keys, and the same bytes at any
// number of threads.
func TestFSCILFromFeatures(t *testing.T) {
	l := commandtest.NewBare(t)
	features := l.Clouds(l.Path("features"))
	l.Must("fscil", "--features", features, "--classifier", "ncm,ppca,plda,gptree,gpr", "--out", l.Path("one"),
		"--threads", "1")
	l.Must("fscil", "--features", features, "--classifier", "ncm,ppca,plda,gptree,gpr", "--out", l.Path("three"),
		"--threads", "3")
	names := []string{"table.md", "table.csv", "curves.png", "curves.svg", "base_novel.png", "forgetting.png"}
	for _, method := range []string{"ncm", "ppca", "plda", "gptree", "gpr"} {
		names = append(names, filepath.Join(method, "results.json"), filepath.Join(method, "details.json"),
			filepath.Join(method, "classes.png"))
	}
	for _, name := range names {
		if !bytes.Equal(l.Read(l.Path("one", name)), l.Read(l.Path("three", name))) {
			t.Errorf("%s depends on the number of threads", name)
		}
	}
	r := l.Object(l.Path("one", "plda"), "results.json")
	if r["dataset"] != "images" || r["method"] != "plda" || r["track"] != "foundation" || r["runs"] != 1.0 ||
		r["backbone"] != "unknown (features)" {
		t.Errorf("results.json says %v", r)
	}
	sessions := r["sessions"].([]any)
	if len(sessions) != 3 {
		t.Fatalf("%d sessions", len(sessions))
	}
	for i, want := range []float64{4, 6, 8} {
		s := sessions[i].(map[string]any)
		if s["session"] != float64(i+1) || s["classes"] != want || s["accuracy"].(float64) < 0.5 ||
			s["accuracy"].(float64) > 1 {
			t.Errorf("session %d: %v", i+1, s)
		}
		keys := slices.Sorted(maps.Keys(s))
		if got, want := strings.Join(keys, " "),
			"accuracy accuracy_sem base_accuracy classes ece forgetting harmonic_mean nll novel_accuracy "+
				"session"; got != want {
			t.Errorf("session %d has the keys %s, want %s", i+1, got, want)
		}
	}
	for _, key := range []string{"average_accuracy", "final_accuracy", "performance_drop", "average_forgetting"} {
		if _, ok := r[key].(float64); !ok {
			t.Errorf("results.json has no %s", key)
		}
	}
	if kept := l.Object(l.Path("one", "gpr"), "results.json")["max_per_class"]; kept != 30.0 {
		t.Errorf("gpr keeps %v examples of a class, want 30", kept)
	}
	repeatedFromItsConfig(l, features)
}

// repeatedFromItsConfig: config.yaml is enough to get the same again.
func repeatedFromItsConfig(l *commandtest.Bed, features string) {
	l.Helper()
	l.Must("fscil", "--features", features, "--classifier", "ncm", "--set", "classifier.ncm.metric=euclidean", "--out",
		l.Path("first"))
	l.Must("fscil", "--config", l.Path("first", "config.yaml"), "--out", l.Path("again"))
	if !bytes.Equal(l.Read(l.Path("first", "results.json")), l.Read(l.Path("again", "results.json"))) {
		l.Error("the run that config.yaml describes gives other results")
	}
}

// TestFSCILVariants: rows with their own settings differ only in these, and are in
// config.yaml.
func TestFSCILVariants(t *testing.T) {
	l := commandtest.NewBare(t)
	features := l.Clouds(l.Path("features"))
	l.Write(l.Path("c.yaml"),
		[]byte("fscil:\n  methods: [ncm]\n  variants:\n    - {name: far means, classifier: ncm, set: {metric: "+
			"euclidean}}\n"))
	l.Must("fscil", "--config", l.Path("c.yaml"), "--features", features, "--out", l.Path("out"))
	l.Must("fscil", "--features", features, "--classifier", "ncm", "--set", "classifier.ncm.metric=euclidean", "--out",
		l.Path("one"))
	got, want := l.Object(l.Path("out", "far means"), "results.json"), l.Object(l.Path("one"), "results.json")
	if got["method"] != "far means" || want["method"] != "ncm" {
		t.Errorf("methods %v and %v", got["method"], want["method"])
	}
	got["method"] = want["method"]
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the variant gives\n%v, the setting\n%v", got, want)
	}
	l.Must("fscil", "--config", l.Path("out", "config.yaml"), "--out", l.Path("again"))
	if !bytes.Equal(l.Read(l.Path("out", "table.csv")), l.Read(l.Path("again", "table.csv"))) {
		t.Error("the run that config.yaml describes gives another table")
	}
	l.Write(l.Path("bad.yaml"),
		[]byte("fscil:\n  variants:\n    - {name: x, classifier: ncm, set: {metrik: euclidean}}\n"))
	l.Refused(command.ExitUsage, []string{"fscil.variants", "metrik"}, "fscil", "--config", l.Path("bad.yaml"),
		"--features", features, "--out", l.Path("bad"))
}

// TestFSCILSeeds: on official sessions, runs differ by the seed of methods that draw,
// and the first is the only one of a single run. Other methods run once.
func TestFSCILSeeds(t *testing.T) {
	l := commandtest.NewBare(t)
	features := l.Clouds(l.Path("features"))
	args := []string{"fscil", "--features", features, "--classifier", "ncm,gptree", "--set",
		"classifier.gptree.mean=zero", "--out"}
	l.Must(append(args, l.Path("one"))...)
	l.Must(append(args, l.Path("three"), "--set", "fscil.runs=3")...)
	for method, runs := range map[string]int{"ncm": 1, "gptree": 3} {
		r, details := l.Object(l.Path("three", method), "results.json"),
			l.Object(l.Path("three", method), "details.json")
		last := r["sessions"].([]any)[2].(map[string]any)
		if all := details["runs"].([]any); r["runs"] != float64(runs) || len(all) != runs ||
			(last["accuracy_sem"] != nil) != (runs > 1) {
			t.Errorf("%s: %d runs, %v", method, len(all), r)
		} else if one := l.Object(l.Path("one", method), "details.json"); !reflect.DeepEqual(all[0],
			one["runs"].([]any)[0]) || runs > 1 && reflect.DeepEqual(all[0], all[1]) {
			t.Errorf("%s: the runs are %v", method, all)
		}
	}
}

// TestFSCILSeedOfCalibration: --seed draws the pseudo-sessions of the calibration, which
// changes probabilities and no label.
func TestFSCILSeedOfCalibration(t *testing.T) {
	l := commandtest.NewBare(t)
	features := l.ManyClouds(l.Path("features"), 12, calibration.MaxPerClass+1)
	var results []map[string]any
	for _, seed := range []string{"0", "1"} {
		out := l.Path("seed" + seed)
		l.Must("fscil", "--features", features, "--classifier", "plda", "--seed", seed, "--out", out)
		results = append(results, l.Object(out, "results.json")["sessions"].([]any)[2].(map[string]any))
	}
	if a, b := results[0], results[1]; a["accuracy"] != b["accuracy"] || a["nll"] == b["nll"] {
		t.Errorf("seed 0: %v\nseed 1: %v", a, b)
	}
}

// TestFSCILLeak: a list that tests on a training image is refused.
func TestFSCILLeak(t *testing.T) {
	l := commandtest.NewBare(t)
	features := l.Clouds(l.Path("features"))
	for name, text := range map[string]string{
		"session_1.txt": "c0/00.jpg\nc0/01.jpg\nc1/00.jpg\nc1/01.jpg\n", "test_1.txt": "c0/25.jpg\nc1/25.jpg\n",
		"session_2.txt": "c4/00.jpg\n", "test_2.txt": "c4/00.jpg\n",
	} {
		l.Write(l.Path("lists", name), []byte(text))
	}
	l.Refused(command.ExitFailed, []string{"leak", "c4/00.jpg", "session 2"}, "fscil", "--features", features,
		"--lists", l.Path("lists"), "--out", l.Path("out"))
	l.Write(l.Path("lists", "test_2.txt"), []byte("c4/99.jpg\n"))
	l.Refused(command.ExitFailed, []string{"c4/99.jpg"}, "fscil", "--features", features, "--lists", l.Path("lists"),
		"--out", l.Path("out"))
	if l.Exists(l.Path("out")) {
		t.Error("a refused run wrote something")
	}
}

func TestFSCILUsage(t *testing.T) {
	l := commandtest.NewBare(t)
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"--images x", []string{"--out"}},
		{"--out x", []string{"--images", "--features"}},
		{"--out x --images y --features z", []string{"two different inputs"}},
		{"--out x --images y", []string{"--lists", "few-shot"}},
		{"--out x --images y --config cub200_fscil", []string{"--lists", "datasets pull cub200"}},
		{"--out x --images y --lists z --classifier nmc", []string{"fscil.methods", "ncm"}},
		{"--out x --images y --config cub200_fscl", []string{"cub200_fscil"}},
		{"--out x --features y --set fscil.track=imagenet", []string{"fscil.track", "foundation"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			sub := l.With(t)
			sub.Refused(command.ExitUsage, c.words, append([]string{"fscil"}, strings.Fields(c.args)...)...)
		})
	}
}

// TestFSCILOnFolder draws sessions from any class folder: two runs, mean and
// standard error; the error about a broken photo names it.
func TestFSCILOnFolder(t *testing.T) {
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	images := l.Photos(l.Path("images"), 32, 6, "ash", "birch", "cedar", "date", "elm", "fir")
	args := []string{"fscil", "--images", images, "--set", "fscil.protocol=few-shot", "--set", "fscil.base_classes=4",
		"--set", "fscil.ways=1", "--set", "fscil.shots=2", "--set", "fscil.test_per_class=2", "--set", "fscil.runs=2",
		"--classifier", "ncm", "--out", l.Path("out")}
	if r := l.Must(args...); !strings.Contains(r.Stdout, "embedded 36 images (0 from the cache)") {
		t.Errorf("first run: %s", r.Stdout)
	}
	if r := l.Must(args...); !strings.Contains(r.Stdout, "embedded 36 images (36 from the cache)") {
		t.Errorf("the second run embeds again: %s", r.Stdout)
	}
	r := l.Object(l.Path("out"), "results.json")
	if _, ok := r["sessions"].([]any)[2].(map[string]any)["accuracy_sem"].(float64); !ok || r["runs"] != 2.0 ||
		r["backbone"] != "default.onnx" || r["dataset"] != "images_drawn" {
		t.Errorf("results.json says %v", r)
	}
	l.Write(l.Path("images", "ash", "broken.jpg"), commandtest.Photo("ash", 9, 32)[:100])
	l.Refused(command.ExitFailed, []string{"broken.jpg"}, args...)
}

// TestFSCILOnCUBNames runs cub200_fscil by its name on a folder that is named
// as the official lists: 200 classes, of which two training images of a base
// class, one of a novel one, and one test image are kept.
func TestFSCILOnCUBNames(t *testing.T) {
	if testing.Short() {
		t.Skip("embeds reduced sessions of CUB-200")
	}
	official := shared.Path(t, "data", "fscil_index_lists", "cub200")
	l := commandtest.New(t)
	for _, image := range reducedLists(l, official, 11) {
		class, name := filepath.Base(filepath.Dir(image)), filepath.Base(image)
		l.Write(l.Path(filepath.FromSlash(image)), commandtest.Photo(class, int(commandtest.HashText(name)%1000), 16))
	}
	args := []string{"fscil", "--config", "cub200_fscil", "--images", l.Path("CUB_200_2011"), "--lists",
		l.Path("lists"), "--out", l.Path("out"), "--set", "fscil.track=pretrained-disjoint"}
	l.Must(args...)
	for _, method := range []string{"ncm", "ppca", "plda"} {
		r := l.Object(l.Path("out", method), "results.json")
		sessions := r["sessions"].([]any)
		if last := sessions[len(sessions)-1].(map[string]any); len(sessions) != 11 || last["classes"] != 200.0 ||
			r["dataset"] != "cub200" || r["track"] != "pretrained-disjoint" {
			t.Errorf("%s: %v", method, r)
		}
	}
	if methods := commandtest.Column(t, l.Table(l.Path("out", "table.csv")), "method"); !slices.Contains(methods,
		"GP-Tree, Rebuild Tree") {
		t.Errorf("no published rows: %v", methods)
	}
	missingCUBImage(l, args)
	pulledCUBLists(l, official)
}

// pulledCUBLists: lists that have been pulled need no flag. They are complete, so
// images are missing.
func pulledCUBLists(l *commandtest.Bed, official string) {
	l.Helper()
	lists := must.Get(filepath.Glob(filepath.Join(official, "*.txt")))(l)
	for _, file := range lists {
		l.Write(l.Path("cache", "datasets", "cub200-lists", filepath.Base(file)), l.Read(file))
	}
	l.Refused(command.ExitFailed, []string{"missing image", "Black_Footed_Albatross"}, "fscil", "--config",
		"cub200_fscil", "--images", l.Dir, "--out", l.Path("out"))
}

// reducedLists keeps two training images of every base class, one of every
// novel class and one test image of each, in the testbed's own lists, and returns
// all images.
func reducedLists(l *commandtest.Bed, official string, sessions int) []string {
	l.Helper()
	var images []string
	for s := 1; s <= sessions; s++ {
		for prefix, keep := range map[string]int{"session": 1, "test": 1} {
			if s == 1 && prefix == "session" {
				keep = 2
			}
			name := fmt.Sprintf("%s_%d.txt", prefix, s)
			kept := firstOfClasses(string(l.Read(official, name)), keep)
			l.Write(l.Path("lists", name), []byte(strings.Join(kept, "\n")))
			images = append(images, kept...)
		}
	}
	return images
}

// firstOfClasses keeps the first lines of every class of a list.
func firstOfClasses(list string, keep int) []string {
	var kept []string
	taken := map[string]int{}
	for _, line := range strings.Fields(list) {
		class := filepath.Base(filepath.Dir(line))
		if taken[class]++; taken[class] <= keep {
			kept = append(kept, line)
		}
	}
	return kept
}

// TestFSCILOnMiniImageNet runs miniimagenet_fscil by its name on a few real
// images of every class; with the built-in backbone the table has published rows.
func TestFSCILOnMiniImageNet(t *testing.T) {
	official := shared.Path(t, "data", "fscil_index_lists", "mini_imagenet")
	images := shared.Path(t, "data", "mini_imagenet")
	commandtest.TrainedNetwork(t)
	l := commandtest.New(t)
	reducedLists(l, official, 9)
	said := l.Must("fscil", "--config", "miniimagenet_fscil", "--images", images, "--lists", l.Path("lists"), "--out",
		l.Path("out"))
	if !strings.Contains(said.Stderr, "not the published lists") {
		t.Errorf("no word about the reduced lists: %s", said.Stderr)
	}
	r := l.Object(l.Path("out", "plda"), "results.json")
	if n := len(r["sessions"].([]any)); n != 9 || r["track"] != "base-only" {
		t.Errorf("results.json says %v", r)
	}
	methods := commandtest.Column(t, l.Table(l.Path("out", "table.csv")), "method")
	if len(methods) != 3+15 || !slices.Contains(methods, "TOPIC") {
		t.Errorf("rows %v", methods)
	}
	l.Must("fscil", "--config", "miniimagenet_fscil", "--images", images, "--lists", l.Path("lists"), "--classifier",
		"ncm", "--set", "fscil.track=foundation", "--out", l.Path("other"))
	if rows := l.Table(l.Path("other", "table.csv")); len(rows) != 2 {
		t.Errorf("published rows of another track are in the table: %v", rows)
	}
}

// TestWangsSteps runs the class-incremental protocols by their names.
func TestWangsSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a tree per step")
	}
	l := commandtest.New(t)
	var classes []string
	for i := range 20 {
		classes = append(classes, fmt.Sprintf("kind %d", i))
	}
	l.Photos(l.Path("images", "train"), 32, 4, classes...)
	for i, class := range classes {
		l.Write(l.Path("images", "test", class, "0.jpg"), commandtest.Photo(class, 100+i, 32))
	}
	for steps, name := range map[int]string{5: "wang_5steps", 10: "wang_10steps"} {
		if text, _, err := configs.Named(name); err != nil || !bytes.Contains(text, []byte("\n  runs: 5\n")) {
			t.Errorf("%s does not have the paper's five orders: %v", name, err)
		}
		runs := map[int]int{5: 2, 10: 1}[steps] // five show nothing else
		l.Must("fscil", "--config", name, "--images", l.Path("images"), "--out", l.Path(name), "--set",
			fmt.Sprint("fscil.runs=", runs))
		r := l.Object(l.Path(name, "ppca"), "results.json")
		if sessions := r["sessions"].([]any); len(sessions) != steps+1 ||
			sessions[0].(map[string]any)["classes"] != 10.0 || r["runs"] != float64(runs) {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// TestFSCILOnCIFAR10: the batches of CIFAR-10, all classes in one session, next to
// the published rows. (Without --dkl, which takes minutes.)
func TestFSCILOnCIFAR10(t *testing.T) {
	l := commandtest.New(t)
	rng := rand.New(rand.NewPCG(1, 1))
	records := func(count int) []byte {
		var file []byte
		for i := range count {
			file = append(file, byte(i%10))
			for range 3 * 32 * 32 {
				file = append(file, byte(24*(i%10)+rng.IntN(20)))
			}
		}
		return file
	}
	for i := range 5 {
		l.Write(l.Path("bin", fmt.Sprintf("data_batch_%d.bin", i+1)), records(20))
	}
	l.Write(l.Path("bin", "test_batch.bin"), records(10))
	l.Write(l.Path("bin", "batches.meta.txt"), []byte("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n"))
	lines := func(n int) (text []byte) {
		for i := range n {
			text = fmt.Appendln(text, i)
		}
		return text
	}
	l.Write(l.Path("lists", "session_1.txt"), lines(100))
	l.Write(l.Path("lists", "test_1.txt"), lines(10))
	l.Must("fscil", "--config", "cifar10_table2", "--images", l.Path("bin"), "--lists", l.Path("lists"), "--out",
		l.Path("out"), "--set", "fscil.track=base-only")
	text := string(l.Read(l.Path("out"), "table.md"))
	for _, want := range []string{"GP-Tree around plda", "SV-DKL", "93.25"} {
		if !strings.Contains(text, want) {
			t.Errorf("table.md has no %q:\n%s", want, text)
		}
	}
}

// TestFSCILOnCIFARFiles: the lists contain indices into the files of the data set.
func TestFSCILOnCIFARFiles(t *testing.T) {
	l := commandtest.New(t)
	var names, train, test bytes.Buffer
	for class := range 100 {
		fmt.Fprintf(&names, "class%d\n", class)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 12 {
		for _, file := range []*bytes.Buffer{&train, &test} {
			file.Write([]byte{0, byte(i % 4)})
			for range 3 * 32 * 32 {
				file.WriteByte(byte(60*(i%4) + rng.IntN(40)))
			}
		}
	}
	for name, data := range map[string][]byte{
		"bin/fine_label_names.txt": names.Bytes(), "bin/train.bin": train.Bytes(), "bin/test.bin": test.Bytes(),
		"lists/session_1.txt": []byte("0\n1\n2\n4\n5\n6\n"), "lists/test_1.txt": []byte("0\n1\n2\n"),
		"lists/session_2.txt": []byte("3\n7\n"), "lists/test_2.txt": []byte("3\n"),
	} {
		l.Write(l.Path(filepath.FromSlash(name)), data)
	}
	l.Must("fscil", "--config", "cifar100_fscil", "--images", l.Path("bin"), "--lists", l.Path("lists"), "--classifier",
		"ncm", "--out", l.Path("out"))
	classes := l.Object(l.Path("out"), "details.json")["runs"].([]any)[0].(map[string]any)["classes"]
	if got := fmt.Sprint(classes); got != "[[class0 class1 class2] [class3]]" {
		t.Errorf("classes %s", got)
	}
}

func missingCUBImage(l *commandtest.Bed, args []string) {
	l.Helper()
	const name = "001.Black_footed_Albatross"
	folders, err := filepath.Glob(l.Path("CUB_200_2011", "images", name, "*"))
	if err != nil || len(folders) != 3 {
		l.Fatalf("%v, %v", folders, err)
	}
	must.Do(l, os.Remove(folders[1]))
	l.Refused(command.ExitFailed,
		[]string{"missing image images/" + name + "/" + filepath.Base(folders[1]), "1 of the 500"}, args...)
}

// TestFSCILGoesOn: stopped in its second run it keeps the first, and the same
// command ends with the files of an uninterrupted run; --resume=false repeats
// everything.
func TestFSCILGoesOn(t *testing.T) {
	l := commandtest.NewBare(t)
	args := []string{"fscil", "--features", pool(l, l.Path("features")), "--set", "fscil.protocol=few-shot", "--set",
		"fscil.base_classes=6", "--set", "fscil.ways=2",
		"--set", "fscil.shots=3", "--set", "fscil.runs=3", "--classifier", "ncm", "--cache", l.Path("cache")}
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	stop := writer(func(p []byte) {
		if stderr.Write(p); bytes.Contains(p, []byte("run=2")) {
			cancel()
		}
	})
	if code := command.Run(commandtest.Context(ctx), append(args, "--out", l.Path("out")), io.Discard,
		stop); code != command.ExitInterrupted {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	parts, err := filepath.Glob(l.Path("out", "parts", "*.safetensors"))
	if err != nil || len(parts) != 1 || l.Exists("out", "results.json") {
		t.Fatalf("interrupted with parts %q (%v)", parts, err)
	}
	if r := l.Must(append(args, "--out", l.Path("out"))...); strings.Contains(r.Stderr, "run=1") ||
		!strings.Contains(r.Stderr, "run=2") {
		t.Errorf("a finished run was measured again: %s", r.Stderr)
	}
	l.Must(append(args, "--out", l.Path("whole"))...)
	sameResults(l, "interrupted", l.Path("out"), l.Path("whole"))
	if r := l.Must(append(args, "--out", l.Path("out"), "--resume=false")...); !strings.Contains(r.Stderr, "run=1") {
		t.Errorf("it does not start over: %s", r.Stderr)
	}
	if r := l.Must(append(args, "--out", l.Path("out"), "--set", "fscil.shots=2")...); !strings.Contains(r.Stderr,
		"run=1") {
		t.Errorf("other sessions take the runs of these: %s", r.Stderr)
	}
	if r := l.Must(append(args, "--out", l.Path("out"), "--seed", "7")...); !strings.Contains(r.Stderr, "run=1") {
		t.Errorf("another seed takes the runs of this one: %s", r.Stderr)
	}
}
