package serving

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestServiceForLabels: without a folder, serve labels photos that are sent as label does, by any of its models.
func TestServiceForLabels(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 4, "ant", "bee", "cat")
	insects, all := l.Path("insects.model"), l.Path("all.model")
	l.Must("train", "--images", photos, "--drop-label", "cat", "--out", insects)
	l.Must("train", "--images", photos, "--out", all)
	l.Must("label", all, "--images", photos, "--out", l.Path("labels"))
	rows := must.Get(csv.NewReader(bytes.NewReader(l.Read(l.Path("labels", "labels.csv")))).ReadAll())(t)[1:]

	cmd, stderr := l.Process(l.Path("cache"), "serve", insects, all, "--addr", "127.0.0.1:0")
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		t.Fatalf("the service says nothing: %s", stderr)
	}
	url := strings.TrimSuffix(strings.Fields(line)[2], "/")

	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for _, row := range rows {
		part := must.Get(parts.CreateFormFile("image", row[0]))(t)
		must.Get(part.Write(l.Read(filepath.Join(photos, row[0]))))(t)
	}
	must.Do(t, parts.Close())
	for model, classes := range map[string]int{"all": 3, "insects": 2} {
		answer := must.Get(http.Post(url+"/v1/label?model="+model, parts.FormDataContentType(),
			bytes.NewReader(form.Bytes())))(t)
		var said struct {
			Images []struct {
				Label string
				Top   []any
			}
		}
		err := json.NewDecoder(answer.Body).Decode(&said)
		answer.Body.Close()
		if err != nil || len(said.Images) != len(rows) || len(said.Images[0].Top) != classes {
			t.Fatalf("%s: %d %+v, %v", model, answer.StatusCode, said, err)
		}
		for i, row := range rows {
			if model == "all" && said.Images[i].Label != row[1] {
				t.Errorf("%s: %q, and %q by label", row[0], said.Images[i].Label, row[1])
			}
		}
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != command.ExitInterrupted && err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
}

// TestServiceRefusals: what a service cannot do is said before anything is opened.
func TestServiceRefusals(t *testing.T) {
	l := commandtest.New(t)
	photos := l.Photos(l.Path("photos"), 40, 2, "ant", "bee")
	one, same := l.Path("one.model"), l.Path("other", "one.model")
	l.Must("train", "--images", photos, "--out", one)
	l.Write(same, l.Read(one))
	for _, c := range []struct {
		code  int
		words string
		args  []string
	}{
		{command.ExitUsage, "--images " + photos, []string{one, photos}},
		{command.ExitUsage, "rename a file", []string{one, same}},
		{command.ExitUsage, "give --images", []string{one, "--events", "60"}},
		{command.ExitUsage, "one model", []string{one, same, "--images", photos}},
		{command.ExitUsage, "MODEL is missing", nil},
		{command.ExitFailed, "none.model", []string{l.Path("none.model")}},
	} {
		r := l.Run(append([]string{"serve", "--addr", "127.0.0.1:0"}, c.args...)...)
		if r.Code != c.code || !strings.Contains(r.Stderr, c.words) {
			t.Errorf("%v: %d %s, want %d and %q", c.args, r.Code, r.Stderr, c.code, c.words)
		}
	}
}
