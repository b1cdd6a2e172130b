//go:build unix

package manuals

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
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
		if err := os.Rename(fmt.Sprintf("%s/%s/%03d.jpg", archive, w[0], i),
			fmt.Sprintf("%s/%s/wrong%d.jpg", archive, w[1], i)); err != nil {
			t.Fatal(err)
		}
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
