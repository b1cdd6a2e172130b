package serving

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command"
	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/teach"
)

// end interrupts a server, and returns its exit code.
func (s *served) end() int {
	s.Helper()
	must.Do(s, s.cmd.Process.Signal(syscall.SIGTERM))
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

// ends interrupts a server that has to end well.
func (s *served) ends() {
	s.Helper()
	if code := s.end(); code != command.ExitDone {
		s.Fatalf("exit code %d: %s", code, s.stderr)
	}
}

// cannotServe starts a server that has to fail with a message that contains all words.
func cannotServe(l *commandtest.Bed, words []string, args ...string) {
	l.Helper()
	cmd, stderr := l.Process(l.Path("cache"), append([]string{"serve"}, args...)...)
	stdout := must.Get(cmd.StdoutPipe())(l)
	must.Do(l, cmd.Start())
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err == nil {
		_ = cmd.Process.Kill()
		l.Errorf("it serves: %s", line)
	}
	_ = cmd.Wait()
	for _, word := range words {
		if !strings.Contains(stderr.String(), word) {
			l.Errorf("pipeline serve %q does not say %q:\n%s", args, word, stderr)
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != command.ExitFailed {
		l.Errorf("exit code %d", code)
	}
}

// ask sends a request, and returns the answer.
func (s *served) ask(method, path, body string) (code int, text string) {
	s.Helper()
	r := must.Get(http.NewRequest(method, s.url+path, strings.NewReader(body)))(s)
	r.Header.Set("Content-Type", "application/json")
	answer := must.Get(http.DefaultClient.Do(r))(s)
	defer answer.Body.Close()
	b := must.Get(io.ReadAll(answer.Body))(s)
	return answer.StatusCode, string(b)
}

// unsaved returns how many decisions the status says are unsaved, and its problem.
func (s *served) unsaved() (n int, problem string) {
	s.Helper()
	_, text := s.ask("GET", "/v1/status", "")
	var status struct {
		Problem *string
		Model   struct{ Unsaved int }
	}
	must.Do(s, json.Unmarshal([]byte(text), &status))
	if status.Problem != nil {
		problem = *status.Problem
	}
	return status.Model.Unsaved, problem
}

// name labels all photos with the names of their folders.
func (s *served) name() {
	s.Helper()
	ids, folders := s.photoIDs()
	for i, id := range ids {
		if s.decide(id, folders[i]) == 0 {
			s.Fatalf("photo %d was not labelled", i)
		}
	}
}

// knows fails unless a model was saved with n samples.
func knows(l *commandtest.Bed, model string, n int) {
	l.Helper()
	if r := l.Must("inspect", model); !strings.Contains(r.Stdout, fmt.Sprintf(" from %d samples", n)) {
		l.Errorf("want a model of %d samples: %s", n, r.Stdout)
	}
}

// labels returns the photos that a journal labels, in order.
func labels(l *commandtest.Bed, journal string) (ids []string) {
	l.Helper()
	for row := range bytes.Lines(l.Read(journal)) {
		var line teach.Line
		must.Do(l, json.Unmarshal(row, &line))
		if line.Do == teach.Label {
			ids = append(ids, line.Images[0].String())
		}
	}
	return ids
}

// TestCommandsLeaveAServedModel: while a server has a model, no command writes its file. What
// adds to its journal is handed to the server, and everything else says so before its work.
func TestCommandsLeaveAServedModel(t *testing.T) {
	l := commandtest.New(t)
	model, images := l.Trained()
	more := l.Photos(l.Path("more"), commandtest.SmallSide, 2, "fig", "pear")
	l.Must("stats", "collect", "--images", images, "--out", l.Path("s.stats"))
	s := serve(l, 24, model, "--images", images)
	before, cached := l.Read(model), l.CachedRows(l.Path("cache"))
	for _, args := range [][]string{
		{"learn", model, "--stats", l.Path("s.stats")},
		{"learn", l.Path("other.model"), "--images", more, "--out", model},
		{"train", "--stats", l.Path("s.stats"), "--classifier", "ppca", "--out", model},
		{"export", model, "--onnx", model},
		{"stats", "collect", "--images", more, "--out", model},
		{"stats", "merge", l.Path("s.stats"), "--out", model},
		{"prior", "--images", more, "--out", model},
		{"rank", l.Path("other.model"), "--images", more, "--out", model},
	} {
		if args[1] == l.Path("other.model") {
			l.Write(args[1], before)
		}
		l.Refused(command.ExitFailed, []string{"in use by another server", "stop it"}, args...)
		if !bytes.Equal(l.Read(model), before) {
			t.Fatalf("%s wrote the model of a server", args[0])
		}
	}
	if n := l.CachedRows(l.Path("cache")); n != cached {
		t.Errorf("%d photos were embedded before the commands were refused", n-cached)
	}
	s.takesWork(l, model, more)
}

// takesWork hands work to a server in every way, and kills it.
func (s *served) takesWork(l *commandtest.Bed, model, more string) {
	s.Helper()
	file := model + ".journal.control"
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		s.Errorf("the key of the server: %v %v", info, err)
	}
	run := l.Must("learn", model, "--images", more)
	if !strings.Contains(run.Stdout, "handed to the server") || !strings.Contains(run.Stdout, "fig, pear") {
		s.Errorf("learn says %s", run.Stdout)
	}
	knows(l, model, 28)
	if _, text := s.ask("GET", "/v1/history", ""); !strings.Contains(text, `"do":"import"`) {
		s.Errorf("the history is %s", text)
	}
	l.Photos(l.Path("contrary"), commandtest.SmallSide, 2, "fig")
	must.Do(s, os.Rename(l.Path("contrary", "fig"), l.Path("contrary", "plum")))
	contrary := []string{"train", "--images", l.Path("contrary"), "--out", model}
	l.Refused(command.ExitFailed, []string{"2 photos are of another class", "--prefer"}, contrary...)
	l.Must(append(contrary, "--prefer", "list")...)
	if code, text := s.ask("POST", "/v1/undo", "{}"); code != http.StatusOK {
		s.Errorf("undo: %d %s", code, text)
	}
	if run := l.Must("forget", model, "--class", "fig"); !strings.Contains(run.Stdout, "forgot 2 of 2 photos") {
		s.Errorf("forget says %s", run.Stdout)
	}
	l.Refused(command.ExitFailed, []string{"fig"}, "forget", model, "--class", "fig")
	knows(l, model, 26)
	must.Do(s, os.WriteFile(file, []byte(`{"Address":"127.0.0.1:1","Key":"of another"}`), 0o600))
	l.Refused(command.ExitFailed, []string{"did not answer", "repeat"}, "learn", model, "--images", more)
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	l.Must("learn", model, "--images", more) // the lock is free, whatever the file says
	knows(l, model, 28)
	if l.Exists(file) {
		s.Error("the key of a server that was killed is left")
	}
}

// TestServeKeepsAModelOfAnotherProgram: a server never overwrites a model that it does
// not know, neither when it is asked to save nor when it ends, and says what to do.
func TestServeKeepsAModelOfAnotherProgram(t *testing.T) {
	l := commandtest.New(t)
	theirs, images := l.Trained()
	model := l.Path("m.model")
	s := serve(l, 24, model, "--images", images)
	s.name()
	if code, text := s.ask("POST", "/v1/save", ""); code != http.StatusOK {
		t.Fatal(text)
	}
	l.Write(model, l.Read(theirs))
	ids, _ := s.photoIDs()
	s.decide(ids[0], "mine")
	for range 2 {
		code, text := s.ask("POST", "/v1/save", "")
		if code != http.StatusConflict || !strings.Contains(text, "another program has changed") {
			t.Errorf("save: %d %s", code, text)
		}
	}
	if code := s.end(); code != command.ExitFailed ||
		!strings.Contains(s.stderr.String(), "error: "+model+" was not written") {
		t.Errorf("exit code %d: %s", code, s.stderr)
	}
	l.Same("the model of another program", l.Read(theirs), model)
	cannotServe(l, []string{"another command changed", "move"}, model, "--images", images, "--addr", "127.0.0.1:0")
	must.Do(t, os.Rename(model, l.Path("their.model")))
	s = serve(l, 24, model, "--images", images)
	s.ends()
	if !strings.Contains(s.stderr.String(), "lacks decisions") {
		t.Errorf("the start says nothing of unsaved decisions: %s", s.stderr)
	}
	knows(l, model, 24)
	if r := l.Must("inspect", model); !strings.Contains(r.Stdout, "mine") {
		t.Errorf("a decision is missing: %s", r.Stdout)
	}
}

// TestServeIsStoppedWhileSaving: a server that is interrupted in the middle of a save
// ends with the model written; one that is killed has the decisions in its journal, says
// so when it starts again, and writes them then.
func TestServeIsStoppedWhileSaving(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 8, "a", "b", "c")
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		model := l.Path(signal.String() + ".model")
		s := serve(l, 24, model, "--images", images)
		s.name()
		go func() {
			if answer, err := http.Post(s.url+"/v1/save", "application/json", nil); err == nil {
				answer.Body.Close()
			}
		}()
		for !bytes.Contains(l.Read(model+".journal"), []byte(`"do":"save"`)) {
		}
		_ = s.cmd.Process.Signal(signal)
		_ = s.cmd.Wait()
		if signal == os.Kill {
			saved := l.Exists(model)
			s = serve(l, 24, model, "--images", images)
			if n, _ := s.unsaved(); (n == 0) != saved {
				t.Errorf("after a kill %d decisions are unsaved; there is a model: %t", n, saved)
			}
			s.ends()
		}
		if code := s.cmd.ProcessState.ExitCode(); code != command.ExitDone {
			t.Errorf("%s: exit code %d: %s", signal, code, s.stderr)
		}
		knows(l, model, 24)
	}
}

// TestServeWithoutItsJournal: with the journal moved away every decision is refused, and
// the health says so; those that were acknowledged are all in the file that was moved.
func TestServeWithoutItsJournal(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 6, "a", "b")
	model, moved := l.Path("m.model"), l.Path("moved")
	s := serve(l, 12, model, "--images", images)
	if !strings.Contains(s.stderr.String(), "there is no model to start from") {
		t.Errorf("it begins without a model and says %q", s.stderr)
	}
	ids, _ := s.photoIDs()
	for i := range 5 {
		s.decide(ids[i], []string{"a", "b"}[i%2])
	}
	must.Do(t, os.Rename(model+".journal", moved))
	for _, id := range ids[5:11] {
		body := fmt.Sprintf(`{"do":"label","images":[%q],"class":"a"}`, id)
		code, text := s.ask("POST", "/v1/decisions", body)
		if code != http.StatusServiceUnavailable || !strings.Contains(text, "m.model.journal is gone") {
			t.Errorf("a decision: %d %s", code, text)
		}
	}
	code, text := s.ask("GET", "/healthz", "")
	if code != http.StatusServiceUnavailable || !strings.Contains(text, "is gone") {
		t.Errorf("healthz: %d %s", code, text)
	}
	if _, problem := s.unsaved(); !strings.Contains(problem, "is gone") {
		t.Errorf("the status has the problem %q", problem)
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	if got := labels(l, moved); len(got) != 5 {
		t.Errorf("the journal has %d labels, acknowledged were 5", len(got))
	}
	cannotServe(l, []string{"put", "m.model.journal back"}, model, "--images", images, "--addr", "127.0.0.1:0")
	must.Do(t, os.Rename(moved, model+".journal"))
	s = serve(l, 12, model, "--images", images)
	must.Do(t, os.Remove(model+".journal"))
	s.ends() // it writes the journal again
	knows(l, model, 5)
	if got := labels(l, model+".journal"); len(got) != 5 {
		t.Errorf("the journal that was removed has %d labels", len(got))
	}
}

// TestServeWhereItCannot: a server whose address is taken, or that is to go back to a
// line that there is not, writes nothing.
func TestServeWhereItCannot(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 4, "a", "b")
	must.Do(t, os.Mkdir(l.Path("models"), 0o755))
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	address := taken.Addr().String()
	model := l.Path("models", "m.model")
	cannotServe(l, []string{"--addr"}, model, "--images", images, "--addr", address)
	if files := l.Tree(l.Path("models")); len(files) != 0 {
		t.Errorf("a server that was never there left %v", files)
	}
	s := serve(l, 8, model, "--images", images)
	s.name()
	s.ends()
	before := l.Tree(l.Path("models"))
	cannotServe(l, []string{"--addr"}, model, "--images", images, "--addr", address, "--at", "3")
	cannotServe(l, []string{"no line 1000"}, model, "--images", images, "--addr", "127.0.0.1:0", "--at", "1000")
	after := l.Tree(l.Path("models"))
	for name, text := range after {
		if text != before[name] {
			t.Errorf("a server that was refused wrote %s", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("there are %d files, there were %d", len(after), len(before))
	}
}
