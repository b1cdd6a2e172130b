package serving

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/teach"
	"github.com/seed-90d10d51/pipeline/words/textencoder/textencodertest"
)

// A served is `pipeline serve` in a process of its own.
type served struct {
	*commandtest.Bed
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	url    string
	model  string
}

// serve starts the server of a model, and returns when its n photos are there.
func serve(l *commandtest.Bed, n int, args ...string) *served {
	l.Helper()
	cmd, stderr := l.Process(l.Path("cache"), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	stdout := must.Get(cmd.StdoutPipe())(l)
	must.Do(l, cmd.Start())
	s := &served{l, cmd, stderr, "", args[0]}
	l.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		l.Fatalf("the server says nothing: %s", stderr)
	}
	s.url = strings.TrimSuffix(strings.Fields(line)[1], "/")
	s.wait(func(now servedStatus) bool { return now.Images.Embedded == n && !now.Images.Scanning })
	return s
}

// A servedStatus is a part of what the server says about itself.
type servedStatus struct {
	Images struct {
		Embedded, Seen int
		Scanning       bool
	}
	Model       struct{ Ready bool }
	Refit       struct{ Running bool }
	NoThreshold bool `json:"no_threshold"`
}

// open returns the ids of the photos of a class that nobody has decided, by the truth of
// their names.
func (s *served) open(truth map[string]string, class string) (ids []string) {
	s.Helper()
	var list struct {
		Images []struct{ ID, Name string }
	}
	code, body := s.ask("GET", "/v1/images?limit=500&decided=false", "")
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		s.Fatalf("%d, %v", code, err)
	}
	for _, p := range list.Images {
		if truth[p.Name] == class {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// wait follows the events of the server until its status is as wanted.
func (s *served) wait(wanted func(servedStatus) bool) {
	s.Helper()
	events := must.Get(http.Get(s.url + "/v1/events"))(s)
	defer events.Body.Close()
	for lines := bufio.NewScanner(events.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var status servedStatus
		must.Do(s, json.Unmarshal([]byte(data), &status))
		if wanted(status) {
			return
		}
	}
	s.Fatalf("the server ends before it is ready: %s", s.stderr)
}

// photoIDs returns the ids of all photos, and their folders.
func (s *served) photoIDs() (ids, folders []string) {
	s.Helper()
	answer := must.Get(http.Get(s.url + "/v1/images?limit=500"))(s)
	defer answer.Body.Close()
	var list struct {
		Images []struct{ ID, Folder string }
	}
	must.Do(s, json.NewDecoder(answer.Body).Decode(&list))
	for _, p := range list.Images {
		ids, folders = append(ids, p.ID), append(folders, p.Folder)
	}
	return ids, folders
}

// decide labels a photo, and returns the line of the journal; 0 if the server does
// not answer.
func (s *served) decide(id, class string) (seq int) {
	s.Helper()
	body := fmt.Sprintf(`{"do":"label","images":[%q],"class":%q}`, id, class)
	answer, err := http.Post(s.url+"/v1/decisions", "application/json", strings.NewReader(body))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	var done struct {
		Step  struct{ Seq int }
		Error string
	}
	if json.NewDecoder(answer.Body).Decode(&done) != nil {
		return 0
	}
	if done.Error != "" {
		s.Errorf("label %s %s: %s", id, class, done.Error)
	}
	return done.Step.Seq
}

// TestServeIsKilled: a server is killed at random moments while a script teaches;
// every decision that was acknowledged is in the journal, once, and the last server
// saves the model of all of them.
func TestServeIsKilled(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 12, "a", "b", "c")
	kills := 5
	if commandtest.Wanted.Long {
		kills = 20
	}
	model := l.Path("m.model")
	args := []string{model, "--images", images}
	rng := rand.New(rand.NewPCG(7, 2))
	acknowledged := map[int]string{}
	sent := 0
	for range kills {
		s := serve(l, 36, args...)
		ids, folders := s.photoIDs()
		moment, reached := 1+rng.IntN(12), make(chan struct{})
		go func() {
			<-reached
			_ = s.cmd.Process.Kill()
		}()
		for n := 0; ; n++ {
			if n == moment {
				close(reached) // the next request is on its way meanwhile
			}
			i := sent % len(ids)
			class := fmt.Sprintf("%s %d", folders[i], sent/len(ids))
			seq := s.decide(ids[i], class)
			if seq == 0 {
				break
			}
			if acknowledged[seq] != "" {
				t.Errorf("line %d was acknowledged twice", seq)
			}
			acknowledged[seq] = ids[i] + " " + class
			sent++
		}
		_ = s.cmd.Wait()
	}
	s := serve(l, 36, args...)
	must.Do(t, s.cmd.Process.Signal(os.Interrupt))
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, s.stderr)
	}
	seen := map[int]string{}
	text := bytes.TrimSpace(l.Read(l.Path("m.model.journal")))
	for i, row := range bytes.Split(text, []byte("\n")) {
		var line teach.Line
		if err := json.Unmarshal(row, &line); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if line.Do == teach.Label {
			seen[line.Seq] = line.Images[0].String() + " " + line.Class
		}
	}
	for seq, want := range acknowledged {
		if seen[seq] != want {
			t.Errorf("line %d is %q, acknowledged was %q", seq, seen[seq], want)
		}
	}
	t.Logf("%d acknowledged, %d in the journal", len(acknowledged), len(seen))
	if len(seen) > len(acknowledged)+kills { // the one that was on its way may count
		t.Errorf("%d decisions in the journal, %d acknowledged", len(seen), len(acknowledged))
	}
	if !l.Exists(l.Path("m.model")) {
		t.Error("the model was not written at the end")
	}
}

// TestServeEnds: a second server of a model does not begin, nor end the first (TestServeTwice), and
// an interrupted one ends with the model written.
func TestServeEnds(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 3, "a", "b")
	s := serve(l, 6, l.Path("m.model"), "--images", images)
	if r := l.Must("serve", l.Path("m.model"), "--images", images, "--addr", "127.0.0.1:0"); !strings.Contains(r.Stdout,
		"open "+s.url+"/ (running already") {
		t.Errorf("a second server says %s", r.Stdout)
	}
	ids, folders := s.photoIDs()
	for i, id := range ids {
		s.decide(id, folders[i])
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
	r := l.Must("inspect", l.Path("m.model"))
	for _, want := range []string{"+a", "+b", "(saved)"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("inspect lacks %s: %s", want, r.Stdout)
		}
	}
}

// TestServeGoesBack: --at restores the state after a line of the history, and forget
// removes a photo from every file next to the model.
func TestServeGoesBack(t *testing.T) {
	l := commandtest.New(t)
	images, model := l.Photos(l.Path("photos"), 32, 4, "a", "b"), l.Path("m.model")
	var ids []string
	session := func(work func(*served), args ...string) {
		t.Helper()
		s := serve(l, 8, append([]string{model, "--images", images}, args...)...)
		work(s)
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		if err := s.cmd.Wait(); err != nil {
			t.Fatalf("%v: %s", err, s.stderr)
		}
	}
	line := 0
	session(func(s *served) {
		var folders []string
		ids, folders = s.photoIDs()
		for i, id := range ids {
			if seq := s.decide(id, folders[i]); i == 5 {
				line = seq
			}
		}
		if _, err := http.Get(s.url + "/v1/images/" + ids[0] + "/thumb"); err != nil {
			t.Error(err)
		}
	})
	session(func(*served) {}, "--at", fmt.Sprint(line))
	if r := l.Must("inspect", model); !strings.Contains(r.Stdout, " from 6 samples") {
		t.Errorf("inspect after going back: %s", r.Stdout)
	}
	thumbnail := l.Path("cache", "thumbnails", ids[0][:2], ids[0]+".jpg")
	if !l.Exists(thumbnail) {
		t.Error("there is no thumbnail to remove")
	}
	l.Write(l.Path("gone.txt"), []byte("a/000.jpg\n"))
	r := l.Must("forget", model, "--samples", l.Path("gone.txt"), "--images", images)
	if !strings.Contains(r.Stdout, "forgot 1 of 1") || !strings.Contains(r.Stdout, "not reached: ") {
		t.Errorf("forget: %s", r.Stdout)
	}
	if l.Exists(thumbnail) || l.Exists(model+".prev") || bytes.Contains(l.Read(model+".journal"), []byte(ids[0])) {
		t.Error("forget left a thumbnail, the version before or a line of the journal")
	}
	if r := l.Must("inspect", model); !strings.Contains(r.Stdout, " from 5 samples") {
		t.Errorf("inspect after forgetting: %s", r.Stdout)
	}
	// What it says of the embeddings that all models share can be done.
	const advice = "delete embeddings (and paths, if 0.2 left it) in the folder that pipeline doctor names"
	if !strings.Contains(r.Stdout, advice) {
		t.Errorf("forget says nothing of the cache: %s", r.Stdout)
	}
	if r := l.Must("doctor"); !strings.Contains(r.Stdout, l.Path("cache")+"\n") {
		t.Errorf("doctor does not name the cache: %s", r.Stdout)
	}
	if !l.Exists(l.Path("cache", "embeddings")) || l.Exists(l.Path("cache", "paths")) {
		t.Error("the cache has other folders")
	}
	must.Do(t, os.RemoveAll(l.Path("cache", "embeddings")))
	session(func(s *served) { s.decide(ids[0], "a") })
}

// TestServeDocs runs the clients of docs/serve.md against a server: both use every
// route of openapi.yaml.
func TestServeDocs(t *testing.T) {
	python := testenv.Python(t)
	if _, err := exec.LookPath("curl"); err != nil {
		testenv.Missing(t, "curl: %v", err)
	}
	text := must.Get(os.ReadFile("../../../../docs/serve.md"))(t)
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 9, "a", "b")
	network := textencodertest.Write(t, l.Path()) // of photos and texts
	for _, name := range []string{"photo.jpg", "a.jpg", "b.jpg"} {
		l.Write(l.Path(name), commandtest.Photo(name[:1], 40, 32))
	}
	code := map[string]string{}
	blocks := regexp.MustCompile("(?s)```(sh|python)\n(.*?)```").FindAllSubmatch(text, -1)
	for _, b := range blocks {
		if bytes.HasPrefix(b[2], []byte("pipeline serve ")) {
			continue // the server itself
		}
		code[string(b[1])] += string(b[2])
	}
	for kind, code := range code {
		s := serve(l, 18, l.Path(kind+".model"), "--images", images, "--backbone", network,
			"--set", "classifier.temperature=0.1") // sure of what so small a network sees
		ids, folders := s.photoIDs()
		for i := range 6 {
			s.decide(ids[i], folders[i])
			s.decide(ids[9+i], folders[9+i])
		}
		s.wait(func(now servedStatus) bool { return now.Model.Ready })
		code = strings.ReplaceAll(code, "http://127.0.0.1:8080", s.url)
		command := exec.Command("sh", "-e", "-c", strings.ReplaceAll(code, "curl -s", "curl -sSf"))
		if kind == "python" {
			command = exec.Command(python, "-c", code, s.url, "a.jpg")
		}
		command.Dir = l.Dir
		if out, err := command.CombinedOutput(); err != nil || len(out) == 0 {
			t.Errorf("%s: %v\n%s", code, err, out)
		}
		if !bytes.Contains(l.Read(l.Path(kind+".model.journal")), []byte("Roe deer")) {
			t.Errorf("%s taught nothing", kind)
		}
		s.used(kind, code)
	}
}

// used reports routes of openapi.yaml that a client has not used.
func (s *served) used(client, code string) {
	s.Helper()
	answer := must.Get(http.Get(s.url + "/metrics"))(s)
	defer answer.Body.Close()
	counts := must.Get(io.ReadAll(answer.Body))(s)
	var api struct{ Paths map[string]map[string]any }
	if err := yaml.Unmarshal(s.Read("../../../../serve/openapi.yaml"), &api); err != nil || len(api.Paths) == 0 {
		s.Fatal(len(api.Paths), err)
	}
	for route, methods := range api.Paths {
		for method := range methods {
			count := fmt.Sprintf("method=%q,route=%q,code=\"200\"", strings.ToUpper(method), route)
			if route == "/v1/quit" { // there would be nobody to ask
				continue
			}
			if route == "/v1/events" { // is counted when the server has noticed that the client is gone
				count, counts = route, append(counts, code...)
			}
			if !bytes.Contains(counts, []byte(count)) {
				s.Errorf("docs/serve.md has no %s of %s %s", client, method, route)
			}
		}
	}
}
