//go:build unix

package instance

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// listening returns a contact, and what its process was given to open its page.
func listening(t *testing.T, has func(string) bool) (Contact, *[]string) {
	t.Helper()
	var admitted []string
	var answer http.HandlerFunc
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	t.Cleanup(server.Close)
	c := New(strings.TrimPrefix(server.URL, "http://"))
	answer = c.Answer(has, func(key string) { admitted = append(admitted, key) })
	return c, &admitted
}

// TestAsk: a process that has what is asked for admits the key that the other side computes.
func TestAsk(t *testing.T) {
	c, admitted := listening(t, func(what string) bool { return what == "deer" })
	key, has, err := c.Ask(t.Context(), "deer")
	if !has || err != nil || len(*admitted) != 1 || (*admitted)[0] != key || key == "" {
		t.Errorf("%q of %q, %t, %v", key, *admitted, has, err)
	}
	if key, has, err := c.Ask(t.Context(), "elk"); has || err != nil || key != "" || len(*admitted) != 1 {
		t.Errorf("%q, %t, %v, admitted %d", key, has, err, len(*admitted))
	}
	if c.PID != os.Getpid() || !strings.Contains(c.String(), "process") {
		t.Errorf("%+v is %s", c, c)
	}
}

// TestStrangers: neither side believes one that does not know the key, nor sends it.
func TestStrangers(t *testing.T) {
	c, admitted := listening(t, func(string) bool { return true })
	other := c
	other.Key = "another"
	if _, has, err := other.Ask(t.Context(), ""); has || !errors.Is(err, ErrStranger) || len(*admitted) > 0 {
		t.Errorf("with another key: %t, %v", has, err)
	}
	var heard string
	impostor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.Header.Write(&writer{&heard})
		heard += r.URL.String()
		_, _ = io.WriteString(w, strings.TrimPrefix(r.Header.Get("Authorization"), "Proof "))
	}))
	defer impostor.Close()
	c.Address = strings.TrimPrefix(impostor.URL, "http://")
	if _, has, err := c.Ask(t.Context(), ""); has || !errors.Is(err, ErrStranger) {
		t.Errorf("an impostor: %t, %v", has, err)
	}
	if heard == "" || strings.Contains(heard, c.Key) {
		t.Errorf("the impostor heard %q", heard)
	}
	c.Address = "127.0.0.1:1"
	if _, has, err := c.Ask(t.Context(), ""); has || err == nil {
		t.Errorf("nobody: %t, %v", has, err)
	}
}

type writer struct{ text *string }

func (w *writer) Write(b []byte) (int, error) {
	*w.text += string(b)
	return len(b), nil
}

// TestFile: a contact is its user's alone; one that others can read, or no contact, is refused.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "contact.json")
	if _, err := Read(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	want := New("127.0.0.1:1")
	want.Page, want.Tickets = "http://127.0.0.1:1/?token=x", true
	must.Do(t, want.Write(path))
	if got, err := Read(path); got != want || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if who := Holder(path+"2", path); who != want.String() {
		t.Errorf("it is held by %q", who)
	}
	must.Do(t, os.Chmod(path, 0o640))
	if _, err := Read(path); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	must.Do(t, os.WriteFile(path, []byte("{"), 0o600))
	must.Do(t, os.Chmod(path, 0o600))
	if _, err := Read(path); err == nil {
		t.Error("half a contact was read")
	}
	if os.Geteuid() == 0 {
		must.Do(t, os.Chown(path, 65534, 65534))
		if who := Holder(path); !strings.Contains(who, "nobody") && who != "user 65534" {
			t.Errorf("it is held by %q", who)
		}
	}
}

// FuzzRead: whatever is in the file, reading it ends with a contact or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"Address":"127.0.0.1:1","Key":"k","Page":"http://127.0.0.1:2/","PID":3}`))
	path := filepath.Join(f.TempDir(), "contact.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		must.Do(t, os.WriteFile(path, text, 0o600))
		if c, err := Read(path); err == nil && len(c.String()) == 0 {
			t.Error("a contact without a name")
		}
	})
}
