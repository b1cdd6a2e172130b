package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	pictures "image"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/teach"
	"github.com/seed-90d10d51/pipeline/teach/project"
)

// A deskSite is a Desk that is served.
type deskSite struct {
	*Desk
	t     *testing.T
	url   string
	dir   string
	ended chan error
}

// newDesk serves the start page of a home with a folder for photos.
func newDesk(t *testing.T) *deskSite {
	t.Helper()
	orttest.Open(t)
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "photos", "deer"), 0o755))
	studio := must.Get(pipeline.Open(context.Background(), pipeline.WithCache(filepath.Join(dir, "cache"))))(t)
	desk, found, err := openDesk(t.Context(), studio, DeskRequest{},
		&project.Recent{File: filepath.Join(dir, "recent.json")}, dir)
	if err != nil || found != nil {
		t.Fatal(found, err)
	}
	d := &deskSite{desk, t, strings.TrimSuffix(desk.page, "/"), dir, make(chan error, 1)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		d.ended <- d.Serve(t.Context())
	}()
	t.Cleanup(func() { <-served }) // before its folder is removed
	return d
}

// paint makes four photos of each of two classes, and returns one of them.
func (d *deskSite) paint() []byte {
	d.t.Helper()
	var text bytes.Buffer
	for i := range 8 {
		class, shade := []string{"deer", "owl"}[i%2], uint8(20*i+90*(i%2))
		picture := pictures.NewNRGBA(pictures.Rect(0, 0, 32, 32))
		for at := range picture.Pix {
			picture.Pix[at] = []uint8{shade, 255 - shade, 90 * uint8(i%2), 255}[at%4]
		}
		text.Reset()
		file := filepath.Join(d.dir, "photos", class, fmt.Sprint(i, ".png"))
		must.Do(d.t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), png.Encode(&text, picture),
			os.WriteFile(file, text.Bytes(), 0o600)))
	}
	return text.Bytes()
}

// ask sends a request with the token, and returns the answer and its code.
func (d *deskSite) ask(method, path, body string, headers ...string) (int, string) {
	d.t.Helper()
	r := must.Get(http.NewRequest(method, d.url+path, strings.NewReader(body)))(d.t)
	r.Header.Set("Authorization", "Bearer "+d.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer := must.Get(client.Do(r))(d.t)
	defer answer.Body.Close()
	text := must.Get(io.ReadAll(answer.Body))(d.t)
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
	d := newDesk(t)
	for _, route := range []string{"GET /v1/state", "GET /v1/folders?path=/", "GET /v1/networks", "GET /",
		"GET /photos/",
		"POST /v1/setup", "POST /v1/network", "POST /v1/begin", "POST /v1/open", "POST /v1/unlist", "POST /v1/export",
		"POST /v1/merge", "POST /v1/cancel", "POST /v1/close", "POST /v1/stop", "POST /v1/show", "GET /v1/log",
		"GET /results/labels.csv", "POST /photos/v1/decisions"} {
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
	once := strings.TrimPrefix(d.BrowserURL(), d.url)
	d.expect(403, "not a name", "GET", once, "", "Authorization", "", "Host", "example.org")
	d.expect(401, "token", "GET", "/?once=x", "", "Authorization", "")
	d.expect(401, "token", "GET", "/v1/state"+strings.TrimPrefix(once, "/"), "", "Authorization", "")
	d.expect(303, "./?token="+d.token, "GET", once, "", "Authorization", "")
	d.expect(401, "token", "GET", once, "", "Authorization", "")
	d.expect(401, "token", "GET", "/?once=", "", "Authorization", "")
	if task := d.last(); task != nil {
		t.Errorf("a task %q was begun", task.kind)
	}
}

// TestFoldersOfDesk: a folder is listed as it is; what it is not is said.
func TestFoldersOfDesk(t *testing.T) {
	d := newDesk(t)
	deer := filepath.Join(d.dir, "photos", "deer")
	must.Do(t, errors.Join(os.WriteFile(filepath.Join(deer, "1.jpg"), nil, 0o644),
		os.Symlink(deer, filepath.Join(d.dir, "photos", "shortcut")),
		os.MkdirAll(filepath.Join(d.dir, "photos", "caf\xe9"), 0o755)))
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
		must.Do(t, os.MkdirAll(filepath.Join(d.dir, "many", fmt.Sprintf("%04d", i)), 0o755))
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

// smallNetwork is the file of a network that is fast.
func smallNetwork(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(testenv.ModuleRoot(tb), "models", "default.onnx")
}

// begin is the body of a request for a new project.
func (d *deskSite) begin(dir, with, names string) string {
	d.t.Helper()
	text := must.Get(json.Marshal(map[string]any{
		"dir": filepath.Join(d.dir, dir), "images": filepath.Join(d.dir, "photos"), "network": smallNetwork(d.t),
		"with": with, "names": strings.Fields(names), "examples": filepath.Join(d.dir, "photos"),
	}))(d.t)
	return string(text)
}

// done waits for the end of the last task, which succeeds.
func (d *deskSite) done() *taskAnswer {
	d.t.Helper()
	a := d.task()
	if a.Error != nil || a.Cancelled {
		d.t.Fatalf("%s: %v, cancelled %t", a.Kind, *cmp.Or(a.Error, new("")), a.Cancelled)
	}
	return a
}

// TestTasksOfDesk: there is one at a time, which can be cancelled, and says how far it is and why it
// failed.
func TestTasksOfDesk(t *testing.T) {
	d := newDesk(t)
	d.expect(404, "no network", "POST", "/v1/network", `{"name":"nothing"}`)
	begun, ended := make(chan bool), make(chan error, 1)
	wait := func(ctx context.Context, task *task) error {
		task.Say("waiting")
		task.Begin("images", 2).Add()
		begun <- true
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	must.Do(t, d.launch("network", "", wait))
	<-begun
	d.expect(409, "something else", "POST", "/v1/setup", "")
	d.expect(200, `"running":true,"unit":"images","done":1,"total":2,"lines":["waiting"]`, "GET", "/v1/state", "")
	d.expect(202, "", "POST", "/v1/cancel", "")
	if a := d.task(); !a.Cancelled || a.Error != nil {
		t.Errorf("a cancelled task: %+v", a)
	}
	must.Do(t, d.launch("setup", "", wait))
	<-begun
	ended <- errors.New("there is no network")
	if a := d.task(); a.Error == nil || *a.Error != "there is no network" {
		t.Errorf("a task that failed: %+v", a)
	}
}

// TestDesk: a project is saved before it is labelled, and closed with what is still asked of it.
func TestDesk(t *testing.T) {
	d := newDesk(t)
	d.expect(303, "/", "GET", "/photos/", "")
	d.expect(404, "no project is open", "GET", "/photos/v1/status", "")
	d.expect(409, "no project is open", "POST", "/v1/export", `{"formats":["csv"]}`)
	d.expect(409, "no project is open", "GET", "/results/labels.csv", "")
	d.expect(200, "the start page begins", "GET", "/v1/log", "")
	d.expect(404, "no such log", "GET", "/v1/log?of=last", "")
	d.expect(400, "now or last", "GET", "/v1/log?of=x", "")
	d.expect(200, `"logs":["now"]`, "GET", "/v1/state", "")
	d.expect(400, "folders, names or nothing", "POST", "/v1/begin", d.begin("a.project", "magic", ""))
	d.expect(400, "1 different names", "POST", "/v1/begin", d.begin("a.project", "names", "elk elk"))
	d.expect(400, "among the photos", "POST", "/v1/begin", d.begin("photos/a.project", "nothing", ""))
	d.expect(409, "whole paths", "POST", "/v1/begin", strings.Replace(d.begin("a", "nothing", ""), d.dir+"/", "", 1))
	d.expect(202, "", "POST", "/v1/begin", d.begin("other.project", "nothing", ""))
	d.done()
	d.expect(200, "", "POST", "/photos/v1/learn?class=elk", string(d.paint()), "Content-Type", "image/png")
	d.expect(202, "", "POST", "/v1/begin", d.begin("a.project", "folders", ""))
	if a := d.done(); !strings.Contains(strings.Join(a.Lines, "\n"), "8 samples of 2 classes") {
		t.Errorf("trained: %q", a.Lines)
	}
	d.expect(200, `"title":"a"`, "GET", "/photos/v1/status", "")
	d.expect(200, "", "POST", "/photos/v1/look", "")
	d.expect(200, "", "POST", "/photos/v1/decisions", `{"do":"rename","class":"owl","to":"tawny owl"}`)
	d.expect(400, "not a whole path", "POST", "/v1/export", `{"formats":["csv"],"out":"here"}`)
	d.expect(400, "among the photos", "POST", "/v1/export", fmt.Sprintf(`{"out":%q}`, d.dir+"/photos/labels"))
	d.expect(202, "", "POST", "/v1/export", `{"formats":["csv"]}`)
	if a := d.done(); !strings.Contains("\n"+strings.Join(a.Lines, "\n"), "\nlabelled 8 images") {
		t.Errorf("labelled: %q", a.Lines)
	}
	labels, err := os.ReadFile(filepath.Join(d.dir, "a.project", "exports", "labels.csv"))
	if err != nil || strings.Count(string(labels), "tawny owl") < 4 {
		t.Errorf("the model was not saved before: %s %v", labels, err)
	}
	d.expect(200, "tawny owl", "GET", "/results/labels.csv", "")
	d.expect(404, "wrote no report.html", "GET", "/results/report.html", "")
	d.expect(404, "wrote no", "GET", "/results/summary.json", "")
	d.expect(404, "wrote no", "GET", "/results/..%2Fphotos.model", "")
	d.expect(409, "opens no windows", "POST", "/v1/show", "")
	shown := ""
	d.Show = func(dir string) error { shown = dir; return nil }
	d.expect(202, "", "POST", "/v1/show", "")
	if want := filepath.Join(d.dir, "a.project", "exports"); shown != want {
		t.Errorf("the folder shown is %s", shown)
	}
	d.expect(200, `"files":[{"name":"labels.csv","is":"the table"}],"shown":true`, "GET", "/v1/state", "")
	d.expect(202, "", "POST", "/v1/export", `{"formats":["csv"],"organise":"link","report":true}`)
	d.done()
	d.expect(200, "path,was,now,by,copy_of\nowl/", "GET", "/results/changes.csv", "")
	d.expect(200, "<html", "GET", "/results/report.html", "")
	d.expect(202, "", "POST", "/v1/export", fmt.Sprintf(`{"formats":["csv"],"out":%q}`, d.dir+"/labels.csv"))
	if a := d.task(); a.Error == nil || !strings.HasPrefix(*a.Error, "out names a folder: with out ") {
		t.Errorf("a folder called labels.csv: %+v", a)
	}
	d.expect(202, "", "POST", "/v1/export", `{"formats":["parquett"]}`)
	if a := d.task(); a.Error == nil || !strings.Contains(*a.Error, "parquett") {
		t.Errorf("an unknown format: %+v", a)
	}

	d.expect(409, "choose another one", "POST", "/v1/merge", fmt.Sprintf(`{"dir":%q}`, d.dir+"/a.project"))
	d.expect(202, "", "POST", "/v1/merge", fmt.Sprintf(`{"dir":%q,"prefer":"list"}`, d.dir+"/other.project"))
	if a := d.done(); len(a.Lines) != 1 || !strings.Contains(a.Lines[0], "1 photo") {
		t.Errorf("merged: %+v", a)
	}
	d.expect(202, "", "POST", "/v1/merge", fmt.Sprintf(`{"dir":%q,"prefer":"x"}`, d.dir+"/other.project"))
	if a := d.task(); a.Error == nil || !strings.Contains(*a.Error, "choose decisions or list") {
		t.Errorf("an unknown preference: %+v", a)
	}

	events := must.Get(http.NewRequest("GET", d.url+"/photos/v1/events", nil))(t)
	events.Header.Set("Authorization", "Bearer "+d.token)
	answer := must.Get(http.DefaultClient.Do(events))(t)
	defer answer.Body.Close()
	must.Get(answer.Body.Read(make([]byte, 1)))(t)
	d.expect(202, "", "POST", "/v1/close", "")
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Errorf("what listened to a project that was closed: %v", err)
	}
	d.done()
	d.expect(409, "is no project", "POST", "/v1/open", `{"dir":"/nowhere"}`)
	d.expect(202, "", "POST", "/v1/open", fmt.Sprintf(`{"dir":%q}`, filepath.Join(d.dir, "a.project")))
	d.done()
	d.expect(202, "", "POST", "/v1/stop", "")
	if err := <-d.ended; err != nil {
		t.Error(err)
	}
	if err := teach.Free(filepath.Join(d.dir, "a.project", "photos.model")); err != nil {
		t.Errorf("the project that was open is not closed: %v", err)
	}
}

// TestFoundDesk: a second start finds the page and gets a key that opens it once; the page opens the
// project that is asked for unless another one is open.
func TestFoundDesk(t *testing.T) {
	d := newDesk(t)
	d.ask("GET", "/v1/state", "") // once it answers, its contact is there
	find := func(dir string) *Found {
		t.Helper()
		found, lock, err := findDesk(t.Context(), d.contact, dir)
		if err != nil || lock != nil {
			t.Fatal(lock, err)
		}
		return found
	}
	found := find("")
	if found.Page != d.url+"/?token="+d.token || strings.Contains(found.Browser, d.token) {
		t.Errorf("%+v", found)
	}
	key := strings.TrimPrefix(found.Browser, d.url)
	d.expect(303, "./?token="+d.token, "GET", key, "", "Authorization", "")
	d.expect(401, "token", "GET", key, "", "Authorization", "")
	var made []project.Project
	for _, name := range []string{"a.project", "b.project"} {
		one := must.Get(project.Create(project.Project{
			Dir: filepath.Join(d.dir, name), Images: filepath.Join(d.dir, "photos"), Network: smallNetwork(t),
		}))(t)
		made = append(made, one)
	}
	link := filepath.Join(d.dir, "link")
	must.Do(t, os.Symlink(made[0].Dir, link))
	for range 2 { // the second time it is about to open
		if find(made[0].Dir) == nil || find(link) == nil {
			t.Error("an idle page opens nothing")
		}
	}
	if find(made[1].Dir) != nil {
		t.Error("a page that opens a project has another one")
	}
	d.done()
	if find(link) == nil || find(made[1].Dir) != nil || find("") == nil {
		t.Error("the page has another project than that which is open")
	}
	d.expect(202, "", "POST", "/v1/stop", "")
	if err := <-d.ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.contact); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a page that has ended is found: %v", err)
	}
}

// TestDeskKnowsFolders by what they are: through links, no project and no export gets among the
// photos, and a project is not merged with itself.
func TestDeskKnowsFolders(t *testing.T) {
	d := newDesk(t)
	at := func(elem ...string) string { return filepath.Join(append([]string{d.dir}, elem...)...) }
	must.Do(t, errors.Join(os.Symlink("photos", at("link")), os.Mkdir(at("linked"), 0o755),
		os.Symlink("../linked", at("photos", "more"))))
	body := func(values map[string]string) string {
		values["with"], values["network"] = "nothing", smallNetwork(t)
		return string(must.Get(json.Marshal(values))(t))
	}
	for photos, dir := range map[string]string{
		"photos": "link/a.project", "link": "photos/a.project", "link/": "link/deer/a.project",
		"photos/../link": "photos/deer/../a.project", "photos//": "linked/a.project",
	} {
		d.expect(400, "among the photos", "POST", "/v1/begin",
			body(map[string]string{"images": d.dir + "/" + photos, "dir": d.dir + "/" + dir}))
	}
	d.expect(202, "", "POST", "/v1/begin", body(map[string]string{"images": at("link"), "dir": at("a.project")}))
	d.done()
	for _, out := range []string{"photos/out", "link/out", "linked", "linked/new/out", "photos"} {
		d.expect(400, "among the photos", "POST", "/v1/export", fmt.Sprintf(`{"formats":["csv"],"out":%q}`, at(out)))
	}
	must.Do(t, os.Symlink("a.project", at("same.project")))
	d.expect(409, "choose another one", "POST", "/v1/merge", fmt.Sprintf(`{"dir":%q}`, at("same.project")))
	d.expect(400, "the project lies in", "POST", "/v1/open",
		fmt.Sprintf(`{"dir":%q,"images":%q}`, at("same.project"), d.dir))
}
