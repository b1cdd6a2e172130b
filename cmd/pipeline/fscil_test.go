package main

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

	"github.com/seed-90d10d51/pipeline/classifier/calibration"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/embed/featdir"
	"github.com/seed-90d10d51/pipeline/internal/shared"
)

// clouds writes a feature folder with three recorded sessions: 4, 2 and 2
// classes, 20 or 3 training rows and 10 test rows each.
func (l *testbed) clouds(dir string) string {
	l.Helper()
	return l.manyClouds(dir, 4, 20)
}

// manyClouds is clouds with another first session: its classes, and their training
// rows.
func (l *testbed) manyClouds(dir string, base, rows int) string {
	l.Helper()
	out, err := featdir.NewWriter(dir, embed.Provenance{Dim: 8})
	if err != nil {
		l.Fatal(err)
	}
	defer out.Abort()
	rng := rand.New(rand.NewPCG(1, 2))
	for class := range base + 4 {
		session, shots := 1, rows
		if class >= base {
			session, shots = 2+(class-base)/2, 3
		}
		centre := cloud(rng, make([]float32, 8), 1)
		for i := range shots + 10 {
			s := dataset.Sample{Path: fmt.Sprintf("c%d/%02d.jpg", class, i), Label: fmt.Sprintf("c%d", class), Split: "train", Session: fmt.Sprint(session)}
			if i >= shots {
				s.Split = "test"
			}
			if err := out.Write(s, cloud(rng, centre, 0.5)); err != nil {
				l.Fatal(err)
			}
		}
	}
	if err := out.Close(); err != nil {
		l.Fatal(err)
	}
	return dir
}

func cloud(rng *rand.Rand, centre []float32, width float64) []float32 {
	x := slices.Clone(centre)
	for i := range x {
		x[i] += float32(width * rng.NormFloat64())
	}
	return x
}

// TestFSCILBesideResults: a new folder beside one that is called results, as the
// examples call theirs, is written, and nothing else appears there.
func TestFSCILBesideResults(t *testing.T) {
	l := newTestbed(t)
	features := l.clouds(l.path("clouds"))
	for _, name := range []string{"results", "others"} {
		l.must("fscil", "--features", features, "--classifier", "ncm", "--out", l.path("out", name))
	}
	if entries, err := os.ReadDir(l.path("out")); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestFSCILFromFeatures: the documented files and keys, and the same bytes at any
// number of threads.
func TestFSCILFromFeatures(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
	features := l.clouds(l.path("features"))
	l.must("fscil", "--features", features, "--classifier", "ncm,ppca,plda,gptree,gpr", "--out", l.path("one"), "--threads", "1")
	l.must("fscil", "--features", features, "--classifier", "ncm,ppca,plda,gptree,gpr", "--out", l.path("three"), "--threads", "3")
	names := []string{"table.md", "table.csv", "curves.png", "curves.svg", "base_novel.png", "forgetting.png"}
	for _, method := range []string{"ncm", "ppca", "plda", "gptree", "gpr"} {
		names = append(names, filepath.Join(method, "results.json"), filepath.Join(method, "details.json"), filepath.Join(method, "classes.png"))
	}
	for _, name := range names {
		if !bytes.Equal(l.read(l.path("one", name)), l.read(l.path("three", name))) {
			t.Errorf("%s depends on the number of threads", name)
		}
	}
	r := l.object(l.path("one", "plda"), "results.json")
	if r["dataset"] != "images" || r["method"] != "plda" || r["track"] != "foundation" || r["runs"] != 1.0 || r["backbone"] != "unknown (features)" {
		t.Errorf("results.json says %v", r)
	}
	sessions := r["sessions"].([]any)
	if len(sessions) != 3 {
		t.Fatalf("%d sessions", len(sessions))
	}
	for i, want := range []float64{4, 6, 8} {
		s := sessions[i].(map[string]any)
		if s["session"] != float64(i+1) || s["classes"] != want || s["accuracy"].(float64) < 0.5 || s["accuracy"].(float64) > 1 {
			t.Errorf("session %d: %v", i+1, s)
		}
		keys := slices.Sorted(maps.Keys(s))
		if got, want := strings.Join(keys, " "), "accuracy accuracy_sem base_accuracy classes ece forgetting harmonic_mean nll novel_accuracy session"; got != want {
			t.Errorf("session %d has the keys %s, want %s", i+1, got, want)
		}
	}
	for _, key := range []string{"average_accuracy", "final_accuracy", "performance_drop", "average_forgetting"} {
		if _, ok := r[key].(float64); !ok {
			t.Errorf("results.json has no %s", key)
		}
	}
	if kept := l.object(l.path("one", "gpr"), "results.json")["max_per_class"]; kept != 30.0 {
		t.Errorf("gpr keeps %v examples of a class, want 30", kept)
	}
	l.repeatedFromItsConfig(features)
}

// repeatedFromItsConfig: config.yaml is enough to get the same again.
func (l *testbed) repeatedFromItsConfig(features string) {
	l.Helper()
	l.must("fscil", "--features", features, "--classifier", "ncm", "--set", "classifier.ncm.metric=euclidean", "--out", l.path("first"))
	l.must("fscil", "--config", l.path("first", "config.yaml"), "--out", l.path("again"))
	if !bytes.Equal(l.read(l.path("first", "results.json")), l.read(l.path("again", "results.json"))) {
		l.Error("the run that config.yaml describes gives other results")
	}
}

// TestFSCILVariants: rows with their own settings differ only in these, and are in
// config.yaml.
func TestFSCILVariants(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
	features := l.clouds(l.path("features"))
	l.write(l.path("c.yaml"), []byte("fscil:\n  methods: [ncm]\n  variants:\n    - {name: far means, classifier: ncm, set: {metric: euclidean}}\n"))
	l.must("fscil", "--config", l.path("c.yaml"), "--features", features, "--out", l.path("out"))
	l.must("fscil", "--features", features, "--classifier", "ncm", "--set", "classifier.ncm.metric=euclidean", "--out", l.path("one"))
	got, want := l.object(l.path("out", "far means"), "results.json"), l.object(l.path("one"), "results.json")
	if got["method"] != "far means" || want["method"] != "ncm" {
		t.Errorf("methods %v and %v", got["method"], want["method"])
	}
	got["method"] = want["method"]
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the variant gives\n%v, the setting\n%v", got, want)
	}
	l.must("fscil", "--config", l.path("out", "config.yaml"), "--out", l.path("again"))
	if !bytes.Equal(l.read(l.path("out", "table.csv")), l.read(l.path("again", "table.csv"))) {
		t.Error("the run that config.yaml describes gives another table")
	}
	l.write(l.path("bad.yaml"), []byte("fscil:\n  variants:\n    - {name: x, classifier: ncm, set: {metrik: euclidean}}\n"))
	l.refused(exitUsage, []string{"fscil.variants", "metrik"}, "fscil", "--config", l.path("bad.yaml"), "--features", features, "--out", l.path("bad"))
}

// TestFSCILSeeds: on official sessions, runs differ by the seed of methods that draw,
// and the first is the only one of a single run. Other methods run once.
func TestFSCILSeeds(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
	features := l.clouds(l.path("features"))
	args := []string{"fscil", "--features", features, "--classifier", "ncm,gptree", "--set", "classifier.gptree.mean=zero", "--out"}
	l.must(append(args, l.path("one"))...)
	l.must(append(args, l.path("three"), "--set", "fscil.runs=3")...)
	for method, runs := range map[string]int{"ncm": 1, "gptree": 3} {
		r, details := l.object(l.path("three", method), "results.json"), l.object(l.path("three", method), "details.json")
		last := r["sessions"].([]any)[2].(map[string]any)
		if all := details["runs"].([]any); r["runs"] != float64(runs) || len(all) != runs || (last["accuracy_sem"] != nil) != (runs > 1) {
			t.Errorf("%s: %d runs, %v", method, len(all), r)
		} else if one := l.object(l.path("one", method), "details.json"); !reflect.DeepEqual(all[0], one["runs"].([]any)[0]) || runs > 1 && reflect.DeepEqual(all[0], all[1]) {
			t.Errorf("%s: the runs are %v", method, all)
		}
	}
}

// TestFSCILSeedOfCalibration: --seed draws the pseudo-sessions of the calibration, which
// changes probabilities and no label.
func TestFSCILSeedOfCalibration(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
	features := l.manyClouds(l.path("features"), 12, calibration.MaxPerClass+1)
	var results []map[string]any
	for _, seed := range []string{"0", "1"} {
		out := l.path("seed" + seed)
		l.must("fscil", "--features", features, "--classifier", "plda", "--seed", seed, "--out", out)
		results = append(results, l.object(out, "results.json")["sessions"].([]any)[2].(map[string]any))
	}
	if a, b := results[0], results[1]; a["accuracy"] != b["accuracy"] || a["nll"] == b["nll"] {
		t.Errorf("seed 0: %v\nseed 1: %v", a, b)
	}
}

// TestFSCILLeak: a list that tests on a training image is refused.
func TestFSCILLeak(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
	features := l.clouds(l.path("features"))
	for name, text := range map[string]string{
		"session_1.txt": "c0/00.jpg\nc0/01.jpg\nc1/00.jpg\nc1/01.jpg\n", "test_1.txt": "c0/25.jpg\nc1/25.jpg\n",
		"session_2.txt": "c4/00.jpg\n", "test_2.txt": "c4/00.jpg\n",
	} {
		l.write(l.path("lists", name), []byte(text))
	}
	l.refused(exitFailed, []string{"leak", "c4/00.jpg", "session 2"}, "fscil", "--features", features, "--lists", l.path("lists"), "--out", l.path("out"))
	l.write(l.path("lists", "test_2.txt"), []byte("c4/99.jpg\n"))
	l.refused(exitFailed, []string{"c4/99.jpg"}, "fscil", "--features", features, "--lists", l.path("lists"), "--out", l.path("out"))
	if l.exists(l.path("out")) {
		t.Error("a refused run wrote something")
	}
}

func TestFSCILUsage(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
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
			sub := &testbed{TB: t, dir: l.dir}
			sub.refused(exitUsage, c.words, append([]string{"fscil"}, strings.Fields(c.args)...)...)
		})
	}
}

// TestFSCILOnFolder draws sessions from any class folder: two runs, mean and
// standard error; the error about a broken photo names it.
func TestFSCILOnFolder(t *testing.T) {
	l := newTestbed(t)
	images := l.photos(l.path("images"), 32, 6, "ash", "birch", "cedar", "date", "elm", "fir")
	args := []string{"fscil", "--images", images, "--set", "fscil.protocol=few-shot", "--set", "fscil.base_classes=4",
		"--set", "fscil.ways=1", "--set", "fscil.shots=2", "--set", "fscil.test_per_class=2", "--set", "fscil.runs=2", "--classifier", "ncm", "--out", l.path("out")}
	if r := l.must(args...); !strings.Contains(r.stdout, "embedded 36 images (0 from the cache)") {
		t.Errorf("first run: %s", r.stdout)
	}
	if r := l.must(args...); !strings.Contains(r.stdout, "embedded 36 images (36 from the cache)") {
		t.Errorf("the second run embeds again: %s", r.stdout)
	}
	r := l.object(l.path("out"), "results.json")
	if _, ok := r["sessions"].([]any)[2].(map[string]any)["accuracy_sem"].(float64); !ok || r["runs"] != 2.0 || r["backbone"] != "default" || r["dataset"] != "images_drawn" {
		t.Errorf("results.json says %v", r)
	}
	l.write(l.path("images", "ash", "broken.jpg"), photo("ash", 9, 32)[:100])
	l.refused(exitFailed, []string{"broken.jpg"}, args...)
}

// TestFSCILOnCUBNames runs cub200_fscil by its name on a folder that is named
// as the official lists: 200 classes, of which two training images of a base
// class, one of a novel one, and one test image are kept.
func TestFSCILOnCUBNames(t *testing.T) {
	if testing.Short() {
		t.Skip("embeds reduced sessions of CUB-200")
	}
	official := shared.Path(t, "data", "fscil_index_lists", "cub200")
	l := newTestbed(t)
	for _, image := range l.reducedLists(official, 11) {
		class, name := filepath.Base(filepath.Dir(image)), filepath.Base(image)
		l.write(l.path(filepath.FromSlash(image)), photo(class, int(hashText(name)%1000), 16))
	}
	args := []string{"fscil", "--config", "cub200_fscil", "--images", l.path("CUB_200_2011"), "--lists", l.path("lists"), "--out", l.path("out")}
	l.must(args...)
	for _, method := range []string{"ncm", "ppca", "plda"} {
		r := l.object(l.path("out", method), "results.json")
		sessions := r["sessions"].([]any)
		if last := sessions[len(sessions)-1].(map[string]any); len(sessions) != 11 || last["classes"] != 200.0 || r["dataset"] != "cub200" || r["track"] != "pretrained-disjoint" {
			t.Errorf("%s: %v", method, r)
		}
	}
	if methods := column(t, l.table(l.path("out", "table.csv")), "method"); !slices.Contains(methods, "GP-Tree, Rebuild Tree") {
		t.Errorf("no published rows: %v", methods)
	}
	l.missingCUBImage(args)
	l.pulledCUBLists(official)
}

// pulledCUBLists: lists that have been pulled need no flag. They are complete, so
// images are missing.
func (l *testbed) pulledCUBLists(official string) {
	l.Helper()
	lists, err := filepath.Glob(filepath.Join(official, "*.txt"))
	if err != nil {
		l.Fatal(err)
	}
	for _, file := range lists {
		l.write(l.path("cache", "datasets", "cub200-lists", filepath.Base(file)), l.read(file))
	}
	l.refused(exitFailed, []string{"missing image", "Black_Footed_Albatross"}, "fscil", "--config", "cub200_fscil", "--images", l.dir, "--out", l.path("out"))
}

// reducedLists keeps two training images of every base class, one of every
// novel class and one test image of each, in the testbed's own lists, and returns
// all images.
func (l *testbed) reducedLists(official string, sessions int) []string {
	l.Helper()
	var images []string
	for s := 1; s <= sessions; s++ {
		for prefix, keep := range map[string]int{"session": 1, "test": 1} {
			if s == 1 && prefix == "session" {
				keep = 2
			}
			name := fmt.Sprintf("%s_%d.txt", prefix, s)
			kept := firstOfClasses(string(l.read(official, name)), keep)
			l.write(l.path("lists", name), []byte(strings.Join(kept, "\n")))
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
	l := newTestbed(t)
	l.reducedLists(official, 9)
	said := l.must("fscil", "--config", "miniimagenet_fscil", "--images", images, "--lists", l.path("lists"), "--out", l.path("out"))
	if !strings.Contains(said.stderr, "not the published lists") {
		t.Errorf("no word about the reduced lists: %s", said.stderr)
	}
	r := l.object(l.path("out", "plda"), "results.json")
	if n := len(r["sessions"].([]any)); n != 9 || r["track"] != "base-only" {
		t.Errorf("results.json says %v", r)
	}
	methods := column(t, l.table(l.path("out", "table.csv")), "method")
	if len(methods) != 3+12 || !slices.Contains(methods, "TOPIC") {
		t.Errorf("rows %v", methods)
	}
	l.must("fscil", "--config", "miniimagenet_fscil", "--images", images, "--lists", l.path("lists"), "--classifier", "ncm", "--set", "fscil.track=foundation", "--out", l.path("other"))
	if rows := l.table(l.path("other", "table.csv")); len(rows) != 2 {
		t.Errorf("published rows of another track are in the table: %v", rows)
	}
}

// TestWangsSteps runs the class-incremental protocols by their names.
func TestWangsSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("trains a tree per step")
	}
	l := newTestbed(t)
	var classes []string
	for i := range 20 {
		classes = append(classes, fmt.Sprintf("kind %d", i))
	}
	l.photos(l.path("images", "train"), 32, 4, classes...)
	for i, class := range classes {
		l.write(l.path("images", "test", class, "0.jpg"), photo(class, 100+i, 32))
	}
	for steps, name := range map[int]string{5: "wang_5steps", 10: "wang_10steps"} {
		l.must("fscil", "--config", name, "--images", l.path("images"), "--out", l.path(name))
		r := l.object(l.path(name, "ppca"), "results.json")
		if sessions := r["sessions"].([]any); len(sessions) != steps+1 || sessions[0].(map[string]any)["classes"] != 10.0 || r["runs"] != 5.0 {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// TestFSCILOnCIFAR10: the batches of CIFAR-10, all classes in one session, next to
// the published rows. (Without --dkl, which takes minutes.)
func TestFSCILOnCIFAR10(t *testing.T) {
	l := newTestbed(t)
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
		l.write(l.path("bin", fmt.Sprintf("data_batch_%d.bin", i+1)), records(20))
	}
	l.write(l.path("bin", "test_batch.bin"), records(10))
	l.write(l.path("bin", "batches.meta.txt"), []byte("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n"))
	lines := func(n int) (text []byte) {
		for i := range n {
			text = fmt.Appendln(text, i)
		}
		return text
	}
	l.write(l.path("lists", "session_1.txt"), lines(100))
	l.write(l.path("lists", "test_1.txt"), lines(10))
	l.must("fscil", "--config", "cifar10_table2", "--images", l.path("bin"), "--lists", l.path("lists"), "--out", l.path("out"), "--set", "fscil.track=base-only")
	text := string(l.read(l.path("out"), "table.md"))
	for _, want := range []string{"GP-Tree around plda", "SV-DKL", "93.25"} {
		if !strings.Contains(text, want) {
			t.Errorf("table.md has no %q:\n%s", want, text)
		}
	}
}

// TestFSCILOnCIFARFiles: the lists contain indices into the files of the data set.
func TestFSCILOnCIFARFiles(t *testing.T) {
	l := newTestbed(t)
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
		l.write(l.path(filepath.FromSlash(name)), data)
	}
	l.must("fscil", "--config", "cifar100_fscil", "--images", l.path("bin"), "--lists", l.path("lists"), "--classifier", "ncm", "--out", l.path("out"))
	classes := l.object(l.path("out"), "details.json")["runs"].([]any)[0].(map[string]any)["classes"]
	if got := fmt.Sprint(classes); got != "[[class0 class1 class2] [class3]]" {
		t.Errorf("classes %s", got)
	}
}

func (l *testbed) missingCUBImage(args []string) {
	l.Helper()
	const name = "001.Black_footed_Albatross"
	folders, err := filepath.Glob(l.path("CUB_200_2011", "images", name, "*"))
	if err != nil || len(folders) != 3 {
		l.Fatalf("%v, %v", folders, err)
	}
	if err := os.Remove(folders[1]); err != nil {
		l.Fatal(err)
	}
	l.refused(exitFailed, []string{"missing image images/" + name + "/" + filepath.Base(folders[1]), "1 of the 500"}, args...)
}

// TestFSCILGoesOn: stopped in its second run it keeps the first, and the same
// command ends with the files of an uninterrupted run; --resume=false repeats
// everything.
func TestFSCILGoesOn(t *testing.T) {
	l := &testbed{TB: t, dir: t.TempDir()}
	args := []string{"fscil", "--features", l.pool(l.path("features")), "--set", "fscil.protocol=few-shot", "--set", "fscil.base_classes=6", "--set", "fscil.ways=2",
		"--set", "fscil.shots=3", "--set", "fscil.runs=3", "--classifier", "ncm", "--cache", l.path("cache")}
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	stop := writer(func(p []byte) {
		if stderr.Write(p); bytes.Contains(p, []byte("run=2")) {
			cancel()
		}
	})
	if code := run(ctx, append(args, "--out", l.path("out")), io.Discard, stop); code != exitInterrupted {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	parts, err := filepath.Glob(l.path("out", "parts", "*.safetensors"))
	if err != nil || len(parts) != 1 || l.exists("out", "results.json") {
		t.Fatalf("interrupted with parts %q (%v)", parts, err)
	}
	if r := l.must(append(args, "--out", l.path("out"))...); strings.Contains(r.stderr, "run=1") || !strings.Contains(r.stderr, "run=2") {
		t.Errorf("a finished run was measured again: %s", r.stderr)
	}
	l.must(append(args, "--out", l.path("whole"))...)
	l.sameResults("interrupted", l.path("out"), l.path("whole"))
	if r := l.must(append(args, "--out", l.path("out"), "--resume=false")...); !strings.Contains(r.stderr, "run=1") {
		t.Errorf("it does not start over: %s", r.stderr)
	}
	if r := l.must(append(args, "--out", l.path("out"), "--set", "fscil.shots=2")...); !strings.Contains(r.stderr, "run=1") {
		t.Errorf("other sessions take the runs of these: %s", r.stderr)
	}
	if r := l.must(append(args, "--out", l.path("out"), "--seed", "7")...); !strings.Contains(r.stderr, "run=1") {
		t.Errorf("another seed takes the runs of this one: %s", r.stderr)
	}
}
