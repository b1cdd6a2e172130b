package serving

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// again runs a command in a process of its own, in the home of start, and returns the address that
// it prints; it has to end by itself.
func again(l *commandtest.Bed, words string, args ...string) (address string) {
	l.Helper()
	cmd, stderr := l.Process(l.Path("cache"), args...)
	cmd.Env = append(cmd.Env, "HOME="+l.Path("home"), "XDG_CONFIG_HOME="+l.Path("home", ".config"))
	out, err := cmd.Output()
	if text := string(out); err != nil || !strings.HasPrefix(text, "open http://127.0.0.1:") ||
		!strings.Contains(text, words) {
		l.Fatalf("pipeline %q: %v\n%s%s", args, err, out, stderr)
	}
	return strings.Fields(string(out))[1]
}

// opens reports what is at an address that has the token.
func opens(l *commandtest.Bed, address string) (code int, text string) {
	l.Helper()
	r := must.Get(http.NewRequest("GET", address, nil))(l)
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer := must.Get(client.Do(r))(l)
	defer answer.Body.Close()
	body := must.Get(io.ReadAll(answer.Body))(l)
	return answer.StatusCode, string(body)
}

// TestStartTwice: a second start, with the project that is open or without, opens the page that
// runs, whatever a program that was killed has left; with another project it opens that.
func TestStartTwice(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 6, "a", "b")
	killed := start(l)
	killed.ask("GET", "v1/state", nil, nil)
	_ = killed.cmd.Process.Kill()
	_ = killed.cmd.Wait()
	left, err := filepath.Glob(l.Path("home", ".config", "pipeline", "start-*.json"))
	if err != nil || len(left) != 1 {
		t.Fatal(left, err)
	}
	if info, err := os.Stat(left[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}

	s := start(l)
	if address := again(l, "running already", "start", "--no-browser"); address != s.address {
		t.Errorf("a second start opens %s, the first is at %s", address, s.address)
	}
	begin := func(name string) map[string]any {
		return map[string]any{"dir": l.Path(name), "images": images, "network": testenv.Small(t), "with": "nothing"}
	}
	s.well("v1/begin", begin("one.project"))
	s.well("v1/close", nil)
	s.well("v1/begin", begin("two.project"))
	address := again(l, "running already", "start", "--no-browser", l.Path("two.project"))
	if !strings.Contains(address, "/photos/?token=") {
		t.Errorf("the project that is open is at %s", address)
	}
	if code, text := opens(l, address); code != http.StatusSeeOther {
		t.Errorf("%s answers %d %s", address, code, text)
	}
	again(l, "running already", "serve", l.Path("two.project", "photos.model"), "--images", images)

	other := start(l, l.Path("one.project"))
	if other.address == s.address {
		t.Fatal("another project is not opened")
	}
	if address := again(l, "running already", "start", "--no-browser"); address != s.address {
		t.Errorf("a start without a project opens %s, the first is at %s", address, s.address)
	}
	other.opened()
	again(l, "running already", "start", "--no-browser", l.Path("one.project"))
	s.well("v1/close", nil)
	if now := s.done("v1/open", map[string]any{"dir": l.Path("one.project")}); now.Task.Error == nil ||
		!strings.Contains(*now.Task.Error, strings.Split(other.address, "?")[0]) {
		t.Errorf("a project that is open at %s: %v", other.address, now.Task.Error)
	}
	other.ask("POST", "v1/stop", nil, nil)
	other.ends()
	again(l, "running already", "start", "--no-browser", l.Path("one.project")) // in the page that runs
	s.opened()
	s.ask("POST", "photos/v1/quit", nil, nil)
	s.ends()
	start(l).ask("POST", "v1/stop", nil, nil)
}

// opened waits until a project is open.
func (s *started) opened() {
	s.Helper()
	for now := (startState{}); now.Project == nil || now.Task.Running; {
		now = startState{}
		s.ask("GET", "v1/state", nil, &now)
	}
}

// TestServeTwice: the same user gets the page that runs, and another one hears who has the model.
func TestServeTwice(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 6, "a", "b")
	model := l.Path("m.model")
	s := serve(l, 12, model, "--images", images)
	for _, addr := range []string{"127.0.0.1:0", strings.TrimPrefix(s.url, "http://")} {
		if address := again(l, images, "serve", model, "--images", images, "--addr", addr); address != s.url+"/" {
			t.Errorf("a second serve opens %s, the first is at %s", address, s.url)
		}
	}
	s.name()
	l.Refused(command.ExitFailed, []string{"in use by another server", fmt.Sprint(s.cmd.Process.Pid)}, "serve", model,
		"--images", images, "--at", "1")
	// What another user, or another program at the port, has left is not believed.
	file := model + ".journal.control"
	contact := l.Read(file)
	var left map[string]any
	must.Do(t, json.Unmarshal(contact, &left))
	left["Key"] = "another"
	forged := must.Get(json.Marshal(left))(t)
	l.Write(file, forged)
	l.Refused(command.ExitFailed, []string{"in use by another server"}, "serve", model, "--images", images)
	l.Write(file, contact)
	must.Do(t, os.Chmod(file, 0o644))
	l.Refused(command.ExitFailed, []string{"in use by another server"}, "serve", model, "--images", images)
	must.Do(t, os.Chmod(file, 0o600))
	again(l, images, "serve", model, "--images", images)
	if code, text := s.ask("POST", "/v1/quit", ""); code != http.StatusAccepted {
		t.Errorf("quit: %d %s", code, text)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.stderr)
	}
	knows(l, model, 12)
}

// TestStartsAtOnce: of several starts, or servers of a model, that begin at one moment, one runs
// and the others open its page.
func TestStartsAtOnce(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 6, "a", "b")
	for _, args := range [][]string{
		{"start", "--no-browser"}, {"serve", l.Path("m.model"), "--images", images, "--addr", "127.0.0.1:0"},
	} {
		const n = 4
		said := make(chan string, n)
		ended := make(chan error, n)
		for range n {
			cmd, stderr := l.Process(l.Path("cache"), args...)
			cmd.Env = append(cmd.Env, "HOME="+l.Path("home"), "XDG_CONFIG_HOME="+l.Path("home", ".config"))
			stdout := must.Get(cmd.StdoutPipe())(t)
			must.Do(t, cmd.Start())
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			go func() {
				text, _ := io.ReadAll(stdout)
				said <- string(text) + stderr.String()
				ended <- cmd.Wait()
			}()
		}
		for range n - 1 {
			if text, err := <-said, <-ended; err != nil || !strings.Contains(text, "running already") {
				t.Errorf("%q: %v, %s", args, err, text)
			}
		}
		address := again(l, "running already", args...)
		base, token, _ := strings.Cut(address, "?token=")
		path := map[bool]string{true: "v1/stop", false: "v1/quit"}[args[0] == "start"]
		r := must.Get(http.NewRequest("POST", base+path, nil))(t)
		r.Header.Set("Authorization", "Bearer "+token)
		answer := must.Get(http.DefaultClient.Do(r))(t)
		answer.Body.Close()
		if text, err := <-said, <-ended; err != nil || strings.Contains(text, "running already") {
			t.Errorf("%q, the first: %v, %s", args, err, text)
		}
	}
}

// TestPageLooksAgainAndQuits: a photo that is new is there when somebody asks for it, and the page
// ends the program.
func TestPageLooksAgainAndQuits(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 6, "a", "b")
	s := serve(l, 12, l.Path("m.model"), "--images", images)
	page := testenv.Open(t, s.url)
	page.Wait("document.querySelector('#grid [role=option]') !== null")
	said := func(words string) {
		t.Helper()
		page.Wait(fmt.Sprintf("document.getElementById('said').textContent.includes(%q)", words))
	}
	page.Click("#look-again")
	said("Nothing is new")
	l.Photos(l.Path("photos"), 32, 7, "a")
	s.wait(func(now servedStatus) bool { return now.Images.Embedded == 13 })
	for _, width := range []int{390, 1280} {
		page.View(width, 844, false)
		if dir := os.Getenv("PAGE_SHOTS"); dir != "" {
			l.Write(filepath.Join(dir, fmt.Sprintf("look-again-%d.png", width)), page.Screenshot())
		}
	}
	page.Click("#help")
	page.Wait("document.getElementById('keys').open")
	page.Eval("document.getElementById('quit').scrollIntoView()", nil)
	if dir := os.Getenv("PAGE_SHOTS"); dir != "" {
		l.Write(filepath.Join(dir, "quit.png"), page.Screenshot())
	}
	page.Click("#quit")
	page.Wait("document.body.textContent.includes('has ended')")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.stderr)
	}
}
