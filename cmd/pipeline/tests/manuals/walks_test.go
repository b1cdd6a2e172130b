//go:build unix

package manuals

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// shellBlock is a block of commands that a page says to type.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")

// TestShop runs every command of docs/shop.md on drawn products.
func TestShop(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many commands")
	}
	l := commandtest.New(t)
	l.Photos(l.Path("products"), commandtest.SmallSide, 5, "mug", "okapi", "kiwi", "lynx")
	l.Photos(l.Path("new"), commandtest.SmallSide, 5, "teapot")
	l.Photos(l.Path("shelf"), commandtest.SmallSide, 8, "kiwi", "teapot")
	walk(l, "shop.md", 10)
	if len(l.Read(l.Path("shop.onnx"))) == 0 || !l.Exists(l.Path("labels", "by-class")) {
		t.Error("no export, or no folders")
	}
	if rows := l.Table(l.Path("labels", "labels.csv")); len(rows) != 17 {
		t.Errorf("%d rows", len(rows))
	}
}

// TestCurator runs every command of docs/curator.md on drawn photos, two of which are
// in the wrong folder and lead the list.
func TestCurator(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many commands")
	}
	l := commandtest.New(t)
	archive := l.Photos(l.Path("archive"), commandtest.SmallSide, 8, "heron", "okapi", "lynx")
	wrong := [][2]string{{"heron", "okapi"}, {"okapi", "lynx"}}
	for i, w := range wrong {
		must.Do(t, os.Rename(fmt.Sprintf("%s/%s/%03d.jpg", archive, w[0], i),
			fmt.Sprintf("%s/%s/wrong%d.jpg", archive, w[1], i)))
	}
	walk(l, "curator.md", 7)
	for _, row := range l.Table(l.Path("suspicious.csv"))[1 : 1+len(wrong)] {
		if !strings.Contains(row[0], "wrong") {
			t.Errorf("%s is more suspicious than a wrong label", row[0])
		}
	}
	for _, file := range []string{"suspicious.html", "decisions/labels.csv", "report/report.html"} {
		if !l.Exists(l.Path(file)) {
			t.Errorf("%s was not written", file)
		}
	}
}

// TestBiologist runs every command of docs/biologist.md on drawn photos of two cameras.
func TestBiologist(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many commands")
	}
	l := commandtest.New(t)
	l.Photos(l.Path("known"), commandtest.SmallSide, 7, "heron", "okapi", "lynx")
	for i, class := range []string{"heron", "heron", "okapi", "lynx", "koala", "koala", "koala", "koala"} {
		l.Write(l.Path("traps", fmt.Sprintf("north/IMG_20250614_10%02d%02d.jpg", i/2, i%2)),
			commandtest.Photo(class, 20+i, commandtest.SmallSide))
		l.Write(l.Path("traps", fmt.Sprintf("south/IMG_20250614_10%02d%02d.jpg", i/2, i%2)),
			commandtest.Photo(class, 40+i, commandtest.SmallSide))
	}
	l.Write(l.Path("places.csv"), []byte("deploymentID,latitude,longitude,deploymentStart,deploymentEnd\n"+
		"north,47.1,9.5,2025-06-12T12:00:00+02:00,2025-06-20T12:00:00+02:00\nsouth,46.9,9.4,,\n"))
	detected(l, "known", "known.json")
	photos := detected(l, "traps", "detections.json")
	walk(l, "biologist.md", 6)
	if rows := l.Table(l.Path("labels", "labels.csv")); len(rows) != 1+photos {
		t.Errorf("%d rows", len(rows))
	}
	species := l.Table(l.Path("labels", "species.csv"))
	if len(species) != 4 || fmt.Sprint(species[1][:4]) != "[north 2025-W24 3.5 1]" ||
		fmt.Sprint(species[2][:4]) != "[north 2025-W25 4.5 0]" || fmt.Sprint(species[3][:4]) != "[south 2025-W24  1]" {
		t.Errorf("species.csv %v", species)
	}
	for file, shown := range map[string]string{"labels/report.html": "data:image/svg&#43;xml",
		"package/activity.csv": "\n10,2,"} {
		if !strings.Contains(string(l.Read(l.Path(file))), shown) {
			t.Errorf("no activity in %s", file)
		}
	}
	observations := string(l.Read(l.Path("package", "camtrap-dp", "observations.csv")))
	if !strings.Contains(observations, "human") || !strings.Contains(observations, "machine") {
		t.Errorf("people and the model are not told apart:\n%s", observations)
	}
}

// detected writes what a detector would say of the photos of a folder, one box in each,
// and returns their number.
func detected(l *commandtest.Bed, folder, file string) int {
	l.Helper()
	var images []string
	must.Do(l, filepath.WalkDir(l.Path(folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(l.Path(folder), path)
		images = append(images, fmt.Sprintf(
			`{"file":%q,"detections":[{"category":"1","conf":0.9,"bbox":[0.05,0.05,0.9,0.9]}]}`, rel))
		return err
	}))
	l.Write(l.Path(file), []byte(`{"images":[`+strings.Join(images, ",")+
		`],"detection_categories":{"1":"animal"},"info":{"format_version":"1.4"}}`))
	return len(images)
}

// walk types the n commands of a page, in their order; a server is stopped once it serves.
func walk(l *commandtest.Bed, page string, n int) {
	l.Helper()
	env := append(l.OnPath(), "PIPELINE_CACHE="+l.Path("cache"), "PIPELINE_SERVE_ADDR=127.0.0.1:0")
	typedCommands := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(l.Read("../../../../docs", page)), -1) {
		for command := range strings.Lines(block[1]) {
			typedCommands++
			if strings.HasPrefix(command, "pipeline serve") {
				cmd := exec.Command("bash", "-c", command)
				cmd.Dir, cmd.Env = l.Dir, env
				serveOnce(l, cmd)
				continue
			}
			typed(l, env, "bash", "-c", command)
		}
	}
	if typedCommands != n {
		l.Errorf("docs/%s has %d commands, not %d", page, typedCommands, n)
	}
}
