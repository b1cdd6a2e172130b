package serving

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/words/textencoder/textencodertest"
)

// A startState is a part of what the start page is told.
type startState struct {
	Task struct {
		Kind               string
		Running, Cancelled bool
		Error              *string
		Lines              []string
	}
	Project *struct{ Images string }
	Status  servedStatus // of the project
}

// ask sends a request to the start page.
func (s *started) ask(method, path string, body, into any) {
	s.Helper()
	text := must.Get(json.Marshal(body))(s)
	base, token, _ := strings.Cut(s.address, "?token=")
	r := must.Get(http.NewRequest(method, base+path, strings.NewReader(string(text))))(s)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil || answer.StatusCode > 299 {
		s.Fatalf("%s %s: %d %s, %v", method, path, answer.StatusCode, text, err)
	}
	if into == nil {
		return
	}
	must.Do(s, json.Unmarshal(text, into))
}

// done asks for something, and waits for the end of the task that it is.
func (s *started) done(path string, body any) (now startState) {
	s.Helper()
	s.ask("POST", path, body, nil)
	for now.Task.Running = true; now.Task.Running; {
		now = startState{}
		s.ask("GET", "v1/state", nil, &now)
	}
	return now
}

// well is done, without an error.
func (s *started) well(path string, body any) startState {
	s.Helper()
	now := s.done(path, body)
	if now.Task.Error != nil || now.Task.Cancelled {
		s.Fatalf("%s: %+v, %v", path, now.Task, now.Task.Error)
	}
	return now
}

// TestStartBegins: class folders and names make models with which the commands go on, a cancelled
// beginning begins again, and what cannot be read is a line and no failure.
func TestStartBegins(t *testing.T) {
	l := commandtest.New(t)
	images := l.Photos(l.Path("photos"), 32, 6, "a", "b")
	l.Write(l.Path("photos", "a", "broken.jpg"), []byte("no photo"))
	network := textencodertest.Write(t, l.Path())
	s := start(l)
	begin := func(name, with string, names ...string) map[string]any {
		return map[string]any{"dir": l.Path(name), "images": images, "network": network, "with": with,
			"examples": images, "names": names}
	}

	s.ask("POST", "v1/begin", begin("folders.project", "folders"), nil)
	s.ask("POST", "v1/cancel", nil, nil)
	if now := s.well("v1/begin", begin("folders.project", "folders")); !strings.Contains(fmt.Sprint(now.Task.Lines),
		"1 of the inputs failed") {
		t.Errorf("what could not be read is not said: %q", now.Task.Lines)
	}
	s.well("v1/export", map[string]any{"formats": []string{"csv"}, "report": true})
	s.well("v1/begin", begin("names.project", "names", "class", `a "b", c`))
	for status := (servedStatus{}); !status.Model.Ready; { // the model of names scores the photos in the background
		s.ask("GET", "photos/v1/status", nil, &status)
	}
	if now := s.done("v1/export", map[string]any{"formats": []string{"parquett"}}); now.Task.Error == nil {
		t.Error("an unknown format was written")
	}
	s.ask("POST", "v1/stop", nil, nil)
	s.ends()
	// The commands go on with it.
	l.Must("label", l.Path("folders.project", "photos.model"), "--images", l.Path("photos", "b"), "--out",
		l.Path("labels"))
}

// TestStartOpensTheBrowser on an address that is good once, and not the one with the token.
func TestStartOpensTheBrowser(t *testing.T) {
	l := commandtest.New(t)
	pipe := l.Path("opened")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	l.Write(l.Path("bin", "xdg-open"), []byte("#!/bin/sh\necho \"$1\" > '"+pipe+"'\n"))
	must.Do(t, os.Chmod(l.Path("bin", "xdg-open"), 0o755))
	l.Env = append(l.Env, "PATH="+l.Path("bin")+":"+os.Getenv("PATH"))
	s := startWith(l)
	opened := strings.TrimSpace(string(l.Read(pipe)))
	base, token, _ := strings.Cut(s.address, "?token=")
	if !strings.HasPrefix(opened, base+"?once=") || strings.Contains(opened, token) {
		t.Errorf("the browser is opened on %s, the address is %s", opened, s.address)
	}
	for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		jar := must.Get(cookiejar.New(nil))(t)
		answer := must.Get((&http.Client{Jar: jar}).Get(opened))(t)
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s answers %d, want %d", opened, answer.StatusCode, want)
		}
	}
	s.ask("POST", "v1/stop", nil, nil)
	s.ends()
}
