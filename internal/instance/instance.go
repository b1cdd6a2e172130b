// Package instance lets a command find the process of the same user that already does what the
// command was asked for, and no other.
//
// That process leaves a Contact in a file that only its user can read. A file may outlive its
// process, and its port may be another program's by now, perhaps of another user or on another
// machine. So nothing of the file is used, and its key is sent to nobody, before whoever listens
// there has proved that it knows the key.
package instance

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

const (
	maxBytes  = 1 << 14 // of a file
	maxAnswer = 256
	askTime   = 5 * time.Second
)

var (
	// ErrForeign means that a file is not this user's alone.
	ErrForeign = errors.New("another user can read or has written it")
	// ErrStranger means that whoever listens at an address is not who left it.
	ErrStranger = errors.New("another program answers at its address")
)

// A Contact is how a process is reached by others of its user.
type Contact struct {
	// Address is where it listens on this machine, host:port, and Key what only its user knows.
	Address, Key string
	// Page is the address of its page for people, with the token if it asks for one. Tickets
	// reports that Ask gets a key that opens the page once.
	Page    string `json:",omitempty"`
	Tickets bool   `json:",omitempty"`
	// Photos is the folder that the page shows, "" for none.
	Photos string `json:",omitempty"`
	// User, Host and PID say which process it is.
	User, Host string
	PID        int
}

// New returns a contact of this process, with a new key.
func New(address string) Contact {
	c := Contact{Address: address, Key: rand.Text(), PID: os.Getpid()}
	c.Host, _ = os.Hostname() // it is only told
	if u, err := user.Current(); err == nil {
		c.User = u.Username
	}
	return c
}

// Write leaves the contact in a file.
func (c Contact) Write(path string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return atomicfile.WritePrivate(path, text)
}

// Read returns the contact in a file. The error wraps ErrForeign if that is not this user's.
func Read(path string) (c Contact, err error) {
	if err := own(path); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	text, err := regularfile.Read(path, maxBytes)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// String says which process it is.
func (c Contact) String() string {
	switch {
	case c.User == "":
		return fmt.Sprintf("process %d", c.PID)
	case c.Host == "":
		return fmt.Sprintf("%s, process %d", c.User, c.PID)
	}
	return fmt.Sprintf("%s on %s, process %d", c.User, c.Host, c.PID)
}

// Holder says what can be known of the process that has left, or locked, the first of some
// files that is there: "" for nothing.
func Holder(paths ...string) string {
	for _, path := range paths {
		c, err := Read(path)
		if err == nil && c.PID > 0 {
			return c.String()
		}
		if name := owner(path); name != "" {
			return name
		}
	}
	return ""
}

// proof is what whoever knows the key can compute, for a purpose.
func (c Contact) proof(purpose, nonce, what string) string {
	mac := hmac.New(sha256.New, []byte(c.Key))
	for _, part := range []string{purpose, nonce, what} {
		fmt.Fprintf(mac, "%d %s", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

const (
	asking = "ask"
	here   = "here"
	busy   = "busy"
	ticket = "ticket"
)

// Ask asks the process whether it has what is asked for, "" for anything, and makes sure that it
// is the one that wrote the contact. The key opens its page once, if it has Tickets.
func (c Contact) Ask(ctx context.Context, what string) (key string, has bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	nonce := rand.Text()
	query := url.Values{"nonce": {nonce}, "what": {what}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.Address+"/here?"+query.Encode(), nil)
	if err != nil {
		return "", false, err
	}
	r.Header.Set("Authorization", "Proof "+c.proof(asking, nonce, what))
	answer, err := Client().Do(r)
	if err != nil {
		return "", false, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return "", false, err
	case hmac.Equal(text, []byte(c.proof(here, nonce, what))):
		return c.proof(ticket, nonce, what), true, nil
	case hmac.Equal(text, []byte(c.proof(busy, nonce, what))):
		return "", false, nil
	}
	return "", false, ErrStranger
}

// Answer answers Ask: has reports whether the process has what is asked for, and admit takes the
// key that opens the page once; nil for none.
func (c Contact) Answer(has func(what string) bool, admit func(key string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		nonce, what := r.URL.Query().Get("nonce"), r.URL.Query().Get("what")
		if !hmac.Equal([]byte(r.Header.Get("Authorization")), []byte("Proof "+c.proof(asking, nonce, what))) {
			http.Error(w, "the proof is missing or wrong", http.StatusUnauthorized)
			return
		}
		answer := busy
		if has(what) {
			answer = here
			if admit != nil {
				admit(c.proof(ticket, nonce, what))
			}
		}
		_, _ = io.WriteString(w, c.proof(answer, nonce, what)) // whoever is gone needs no answer
	}
}

// Client returns one that asks this machine: by no proxy, and wherever nobody leads it.
func Client() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
