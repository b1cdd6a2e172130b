package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

// A standProgram does nothing but say what it was asked for, until it may go on.
type standProgram struct {
	asked chan string
	goOn  chan error
}

func (p standProgram) work(ctx context.Context, task *Task, what string) error {
	fmt.Fprintln(task, what)
	task.Progress("images", 1, 2)
	p.asked <- what
	select {
	case err := <-p.goOn:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p standProgram) Ready() error { return errors.New("no library") }

func (p standProgram) Networks() ([]Network, error) {
	return []Network{{Name: "here", Here: true}, {Name: "far", Obtainable: true}}, nil
}

func (p standProgram) SetUp(ctx context.Context, task *Task) error { return p.work(ctx, task, "setup") }

func (p standProgram) Obtain(ctx context.Context, name string, task *Task) error {
	return p.work(ctx, task, "obtain "+name)
}

func (p standProgram) Train(ctx context.Context, of project.Project, b Beginning, task *Task) error {
	return p.work(ctx, task, fmt.Sprintf("train %s with %s %q", of.Name(), b.With, b.Names))
}

func (p standProgram) Open(ctx context.Context, of project.Project, _ string, _ Entrance, _ func(),
	task *Task) (Site, error) {
	return standSite{p}, p.work(ctx, task, "open "+of.Name())
}

func (p standProgram) Label(ctx context.Context, of project.Project, e Export, task *Task) error {
	return p.work(ctx, task, fmt.Sprintf("label %s %v into %s", of.Name(), e.Formats, e.Out))
}

// A standSite answers everything with its path, and /photos/slow when its work ends.
type standSite struct{ standProgram }

func (s standSite) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "slow") {
			s.asked <- "slow"
			<-r.Context().Done()
		}
		fmt.Fprint(w, r.URL.Path)
	})
}

func (s standSite) Work(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
func (s standSite) Save(context.Context) error     { s.asked <- "save"; return nil }
func (s standSite) Merge(file, prefer string) (string, error) {
	s.asked <- "merge " + filepath.Base(filepath.Dir(file)) + " " + prefer
	return "merged", nil
}

func (s standSite) Close() error { s.asked <- "close"; return nil }

// A deskSite is a Desk that is served.
type deskSite struct {
	*Desk
	t     *testing.T
	url   string
	dir   string
	host  string // of requests
	ended chan error
}

func newDesk(t *testing.T) (*deskSite, standProgram) {
	t.Helper()
	p := standProgram{make(chan string, 10), make(chan error, 10)}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "photos", "deer"), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	contact := filepath.Join(dir, "contact")
	lock, err := regularfile.Lock(contact + ".lock") // as the command holds it
	if err == nil {
		_, err = lock.TryLock()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Unlock() })
	d := &deskSite{
		&Desk{
			Contact: contact, Program: p, Token: "0123456789abcdef", Once: "fedcba9876543210", Home: dir,
			Formats: []string{"csv"}, Recent: project.Recent{File: filepath.Join(dir, "recent.json")},
			Log: slog.New(slog.DiscardHandler),
		},
		t, "http://" + l.Addr().String(), dir, "", make(chan error, 1),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		d.ended <- d.Serve(t.Context(), l, "")
	}()
	t.Cleanup(func() { <-served }) // before its folder is removed
	return d, p
}

// ask sends a request with the token, and returns the answer and its code.
func (d *deskSite) ask(method, path, body string, headers ...string) (int, string) {
	d.t.Helper()
	r, err := http.NewRequest(method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.Token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Location") + string(text)
}

// expect asks for something that is answered with a code and some words.
func (d *deskSite) expect(code int, words, method, path, body string, headers ...string) {
	d.t.Helper()
	got, text := d.ask(method, path, body, headers...)
	if got != code || !strings.Contains(text, words) {
		d.t.Errorf("%s %s %s: %d %s, want %d and %q", method, path, body, got, text, code, words)
	}
}

// task waits for the end of the last task.
func (d *deskSite) task() *taskAnswer {
	d.t.Helper()
	<-d.last().done
	var a stateAnswer
	if _, text := d.ask("GET", "/v1/state", ""); json.Unmarshal([]byte(text), &a) != nil {
		d.t.Fatal(text)
	}
	return a.Task
}

// TestHostileDesk: another site, another name of this machine, and whoever lacks the token
// list no folder and do nothing; the key of the browser is good once.
func TestHostileDesk(t *testing.T) {
	d, _ := newDesk(t)
	for _, route := range []string{"GET /v1/state", "GET /v1/folders?path=/", "GET /v1/networks", "GET /",
		"GET /photos/",
		"POST /v1/setup", "POST /v1/network", "POST /v1/begin", "POST /v1/open", "POST /v1/unlist", "POST /v1/export",
		"POST /v1/merge", "POST /v1/cancel", "POST /v1/close", "POST /v1/stop", "POST /photos/v1/decisions"} {
		method, path, _ := strings.Cut(route, " ")
		d.expect(401, "the token is missing", method, path, "", "Authorization", "Bearer wrong")
		d.expect(401, "the token is missing", method, path, "", "Authorization", "", "Cookie", "pipeline-token=x")
		d.expect(403, "is not a name of this machine", method, path, "", "Host", "photos.example.org")
		d.expect(403, "is not a name of this machine", method, path, "", "Host", "192.0.2.1:80")
		if method == "POST" {
			d.expect(403, "another site", method, path, "", "Origin", "http://example.org")
			d.expect(403, "another site", method, path, "", "Sec-Fetch-Site", "cross-site")
		}
	}
	d.expect(403, "not a name", "GET", "/?once="+d.Once, "", "Authorization", "", "Host", "example.org")
	d.expect(401, "token", "GET", "/?once=x", "", "Authorization", "")
	d.expect(401, "token", "GET", "/v1/state?once=fedcba9876543210", "", "Authorization", "")
	d.expect(303, "./?token="+d.Token, "GET", "/?once=fedcba9876543210", "", "Authorization", "")
	d.expect(401, "token", "GET", "/?once=fedcba9876543210", "", "Authorization", "")
	d.expect(401, "token", "GET", "/?once=", "", "Authorization", "")
	if task := d.last(); task != nil {
		t.Errorf("a task %q was begun", task.kind)
	}
}

// TestFoldersOfDesk: a folder is listed as it is; what it is not is said.
func TestFoldersOfDesk(t *testing.T) {
	d, _ := newDesk(t)
	deer := filepath.Join(d.dir, "photos", "deer")
	if err := errors.Join(os.WriteFile(filepath.Join(deer, "1.jpg"), nil, 0o644),
		os.Symlink(deer, filepath.Join(d.dir, "photos", "shortcut")),
		os.MkdirAll(filepath.Join(d.dir, "photos", "caf\xe9"), 0o755)); err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return "/v1/folders?path=" + url.QueryEscape(path) }
	list := func(path string) (a foldersAnswer) {
		t.Helper()
		code, text := d.ask("GET", at(path), "")
		if err := json.Unmarshal([]byte(text), &a); code != 200 || err != nil {
			t.Fatalf("%s: %d %s, %v", path, code, text, err)
		}
		return a
	}
	a := list(filepath.Join(d.dir, "photos"))
	got := ""
	for _, f := range a.Folders {
		got += fmt.Sprintln(f.Name, f.Photos, f.Link != nil, f.Error != nil)
	}
	if want := "caf%E9 0 false false\ndeer 1 false false\nshortcut 0 true false\n"; got != want || a.Photos != 1 ||
		*a.Parent != d.dir || a.Asked != nil {
		t.Errorf("%q, want %q; %+v", got, want, a)
	}
	if list(a.Folders[0].Path).Name != "caf%E9" {
		t.Error("a name that is no text is not found again")
	}
	if a := list(a.Folders[2].Path); a.Path != deer || a.Asked == nil {
		t.Errorf("a link is followed without a word: %+v", a)
	}
	if a := list("/"); a.Parent != nil {
		t.Errorf("above the root is %q", *a.Parent)
	}
	for i := range maxFolders + 2 {
		if err := os.MkdirAll(filepath.Join(d.dir, "many", fmt.Sprintf("%04d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if a := list(filepath.Join(d.dir, "many")); len(a.Folders) != maxFolders || a.LeftOff != 2 || a.More {
		t.Errorf("%d folders are listed and %d left off", len(a.Folders), a.LeftOff)
	}
	if list("").Path != d.dir || list(deer+"/../..").Path != d.dir {
		t.Error("the home folder is another one")
	}
	d.expect(404, "there is no such folder", "GET", at(d.dir+"/nowhere"), "")
	d.expect(400, "it is a file", "GET", at(deer+"/1.jpg"), "")
	d.expect(400, "not a whole path", "GET", at("photos"), "")
	d.expect(400, "", "GET", at(d.dir+"/a\x00b"), "")
	if text := whyUnread(fmt.Errorf("x: %w", os.ErrPermission)); text != "you have no right to read it" {
		t.Error(text)
	}
}

// TestDesk: one task at a time, which can be cancelled; a project is saved before it is
// labelled, and closed with what is still asked of it.
func TestDesk(t *testing.T) {
	d, p := newDesk(t)
	heard := func(want string) {
		t.Helper()
		if got := <-p.asked; got != want {
			t.Fatalf("the program is asked for %q, want %q", got, want)
		}
	}
	d.expect(404, "no network", "POST", "/v1/network", `{"name":"here"}`)
	d.expect(202, "", "POST", "/v1/network", `{"name":"far"}`)
	heard("obtain far")
	d.expect(409, "something else", "POST", "/v1/setup", "")
	d.expect(200, `"running":true,"unit":"images","done":1,"total":2,"lines":["obtain far"]`, "GET", "/v1/state", "")
	d.expect(202, "", "POST", "/v1/cancel", "")
	if a := d.task(); !a.Cancelled || a.Error != nil {
		t.Errorf("a cancelled task: %+v", a)
	}
	d.expect(202, "", "POST", "/v1/setup", "")
	heard("setup")
	p.goOn <- errors.New("there is no network")
	if a := d.task(); a.Error == nil || *a.Error != "there is no network" {
		t.Errorf("a task that failed: %+v", a)
	}

	d.expect(303, "/", "GET", "/photos/", "")
	d.expect(404, "no project is open", "GET", "/photos/v1/status", "")
	d.expect(409, "no project is open", "POST", "/v1/export", `{"formats":["csv"]}`)
	begin := func(dir, with, names string) string {
		text, err := json.Marshal(map[string]any{
			"dir": filepath.Join(d.dir, dir), "images": filepath.Join(d.dir, "photos"),
			"with": with, "names": strings.Fields(names),
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	d.expect(400, "folders, names or nothing", "POST", "/v1/begin", begin("a.project", "magic", ""))
	d.expect(400, "1 different names", "POST", "/v1/begin", begin("a.project", "names", "elk elk"))
	d.expect(400, "among the photos", "POST", "/v1/begin", begin("photos/a.project", "nothing", ""))
	d.expect(409, "whole paths", "POST", "/v1/begin", strings.Replace(begin("a", "nothing", ""), d.dir+"/", "", 1))
	d.expect(202, "", "POST", "/v1/begin", begin("a.project", "names", "elk owl elk"))
	heard(`train a with names ["elk" "owl"]`)
	p.goOn <- nil
	heard("open a")
	p.goOn <- nil
	d.task()
	d.expect(200, "/photos/v1/x", "GET", "/photos/v1/x", "")
	d.expect(400, "not a whole path", "POST", "/v1/export", `{"formats":["csv"],"out":"here"}`)
	d.expect(400, "among the photos", "POST", "/v1/export", fmt.Sprintf(`{"out":%q}`, d.dir+"/photos/labels"))
	d.expect(202, "", "POST", "/v1/export", `{"formats":["csv"]}`)
	heard("save")
	heard("label a [csv] into " + filepath.Join(d.dir, "a.project", "exports"))
	p.goOn <- nil
	d.task()

	other, err := project.Create(project.Project{Dir: filepath.Join(d.dir, "b.project"), Images: d.dir + "/gone"})
	if err != nil {
		t.Fatal(err)
	}
	d.expect(409, "choose another one", "POST", "/v1/merge", fmt.Sprintf(`{"dir":%q}`, d.dir+"/a.project"))
	d.expect(202, "", "POST", "/v1/merge", fmt.Sprintf(`{"dir":%q,"prefer":"list"}`, other.Dir))
	heard("merge b.project list")
	if a := d.task(); a.Error != nil || len(a.Lines) != 1 || a.Lines[0] != "merged" {
		t.Errorf("merged: %+v", a)
	}

	slow := make(chan bool)
	go func() { d.ask("GET", "/photos/slow", ""); close(slow) }()
	heard("slow")
	d.expect(202, "", "POST", "/v1/close", "")
	<-slow
	heard("close")
	d.task()
	d.expect(409, "is no project", "POST", "/v1/open", `{"dir":"/nowhere"}`)
	d.expect(202, "", "POST", "/v1/open", fmt.Sprintf(`{"dir":%q}`, filepath.Join(d.dir, "a.project")))
	heard("open a")
	p.goOn <- nil
	d.task()
	d.expect(202, "", "POST", "/v1/stop", "")
	heard("close")
	if err := <-d.ended; err != nil {
		t.Error(err)
	}
}

// TestFoundDesk: a second start finds the page and gets a key that opens it once; the page opens the
// project that is asked for unless another one is open.
func TestFoundDesk(t *testing.T) {
	d, p := newDesk(t)
	d.ask("GET", "/v1/state", "") // once it answers, its contact is there
	find := func(dir string) *Found {
		t.Helper()
		found, lock, err := FindDesk(t.Context(), d.Contact, dir)
		if err != nil || lock != nil {
			t.Fatal(lock, err)
		}
		return found
	}
	found := find("")
	if found.Page != d.url+"/?token="+d.Token || strings.Contains(found.Browser, d.Token) {
		t.Errorf("%+v", found)
	}
	key := strings.TrimPrefix(found.Browser, d.url)
	d.expect(303, "./?token="+d.Token, "GET", key, "", "Authorization", "")
	d.expect(401, "token", "GET", key, "", "Authorization", "")
	var made []project.Project
	for _, name := range []string{"a.project", "b.project"} {
		one, err := project.Create(project.Project{
			Dir: filepath.Join(d.dir, name), Images: filepath.Join(d.dir, "photos"),
		})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, one)
	}
	link := filepath.Join(d.dir, "link")
	if err := os.Symlink(made[0].Dir, link); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is about to open
		if find(made[0].Dir) == nil || find(link) == nil {
			t.Error("an idle page opens nothing")
		}
	}
	if find(made[1].Dir) != nil {
		t.Error("a page that opens a project has another one")
	}
	if what := <-p.asked; what != "open a" {
		t.Error(what)
	}
	p.goOn <- nil
	d.task()
	if find(link) == nil || find(made[1].Dir) != nil || find("") == nil {
		t.Error("the page has another project than that which is open")
	}
	d.expect(202, "", "POST", "/v1/stop", "")
	if err := <-d.ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.Contact); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a page that has ended is found: %v", err)
	}
}

// TestDeskKnowsFolders by what they are: through links, no project and no export gets among the
// photos, and a project is not merged with itself.
func TestDeskKnowsFolders(t *testing.T) {
	d, p := newDesk(t)
	at := func(elem ...string) string { return filepath.Join(append([]string{d.dir}, elem...)...) }
	if err := errors.Join(os.Symlink("photos", at("link")), os.Mkdir(at("linked"), 0o755),
		os.Symlink("../linked", at("photos", "more"))); err != nil {
		t.Fatal(err)
	}
	body := func(values map[string]string) string {
		values["with"] = "nothing"
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for photos, dir := range map[string]string{
		"photos": "link/a.project", "link": "photos/a.project", "link/": "link/deer/a.project",
		"photos/../link": "photos/deer/../a.project", "photos//": "linked/a.project",
	} {
		d.expect(400, "among the photos", "POST", "/v1/begin",
			body(map[string]string{"images": d.dir + "/" + photos, "dir": d.dir + "/" + dir}))
	}
	d.expect(202, "", "POST", "/v1/begin", body(map[string]string{"images": at("link"), "dir": at("a.project")}))
	<-p.asked
	p.goOn <- nil
	d.task()
	for _, out := range []string{"photos/out", "link/out", "linked", "linked/new/out", "photos"} {
		d.expect(400, "among the photos", "POST", "/v1/export", fmt.Sprintf(`{"formats":["csv"],"out":%q}`, at(out)))
	}
	if err := os.Symlink("a.project", at("same.project")); err != nil {
		t.Fatal(err)
	}
	d.expect(409, "choose another one", "POST", "/v1/merge", fmt.Sprintf(`{"dir":%q}`, at("same.project")))
	d.expect(400, "the project lies in", "POST", "/v1/open",
		fmt.Sprintf(`{"dir":%q,"images":%q}`, at("same.project"), d.dir))
}
