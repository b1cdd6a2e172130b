package serve

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// answered sends a request, with headers in pairs, and returns the answer, whose redirect
// is not followed.
func (s *site) answered(path string, headers ...string) *http.Response {
	s.t.Helper()
	r := s.request("GET", path, "", "")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	a := must.Get(http.DefaultTransport.RoundTrip(r))(s.t)
	s.t.Cleanup(func() { a.Body.Close() })
	return a
}

const secret = "a token of the test"

// TestTokenBelowAPrefix: wherever a proxy has the page, opening it with the token leads back
// to it, and the cookie is for that path.
func TestTokenBelowAPrefix(t *testing.T) {
	for name, c := range map[string]struct {
		base, path string
		headers    []string
		cookie     string
		secure     bool
	}{
		"no proxy":            {"", "/", nil, "/", false},
		"prefix cut off":      {"", "/", []string{"X-Forwarded-Prefix", "/label"}, "/label/", false},
		"prefix of two":       {"", "/", []string{"X-Forwarded-Prefix", "/a/label/"}, "/a/label/", false},
		"a prefix that is no": {"", "/", []string{"X-Forwarded-Prefix", "/a; Domain=evil.example"}, "/", false},
		"a prefix of a host":  {"", "/", []string{"X-Forwarded-Prefix", "//evil.example"}, "/", false},
		"base path":           {"/label", "/label/", nil, "/label/", false},
		"base path cut off":   {"/label/", "/", nil, "/label/", false},
		"https outside":       {"/label", "/label/", []string{"X-Forwarded-Proto", "https"}, "/label/", true},
		"two proxies, https":  {"/label", "/label/", []string{"X-Forwarded-Proto", "HTTPS, http"}, "/label/", true},
	} {
		s := newSite(t, func(o *Options) { o.Token, o.BasePath = secret, c.base })
		a := s.answered(c.path+"?token="+url.QueryEscape(secret), c.headers...)
		cookies := a.Cookies()
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "./" || len(cookies) != 1 {
			t.Errorf("%s: %d to %q, %d cookies", name, a.StatusCode, a.Header.Get("Location"), len(cookies))
		} else if cookies[0].Path != c.cookie || cookies[0].Secure != c.secure {
			t.Errorf("%s: cookie for %q, secure %t", name, cookies[0].Path, cookies[0].Secure)
		}
	}
}

func TestBasePath(t *testing.T) {
	s := newSite(t, func(o *Options) { o.BasePath = "/label" })
	for path, code := range map[string]int{
		"/label/": 200, "/label/v1/status": 200, "/label/style.css": 200, "/v1/status": 200, "/label": 303,
		"/labels": 404,
	} {
		if a := s.answered(path); a.StatusCode != code {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, code)
		}
	}
	if to := s.answered("/label").Header.Get("Location"); to != "/label/" {
		t.Errorf("/label leads to %q", to)
	}
}

// TestHosts: a host of the settings is accepted, also as the origin of a change; another
// is told how it could be.
func TestHosts(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Hosts = []string{"photos.example", "other.example:8443"} })
	for host, code := range map[string]int{
		"photos.example": 200, "PHOTOS.example:80": 200, "other.example:8443": 200, "other.example:81": 403,
		"evil.example": 403, "photos.example.evil": 403, "[::1]:8080": 200, "[2001:db8::1]": 403,
	} {
		if a := s.answered("/v1/status", "Host", host); a.StatusCode != code {
			t.Errorf("host %s: %d, want %d", host, a.StatusCode, code)
		}
	}
	body := make([]byte, 1000)
	n, _ := s.answered("/", "Host", "new.example:81").Body.Read(body)
	if !strings.Contains(string(body[:n]), "--hosts new.example") {
		t.Errorf("the answer does not say how: %s", body[:n])
	}
	for origin, code := range map[string]int{"https://photos.example": 404, "https://evil.example": 403} {
		r := s.request("POST", "/v1/decisions", "application/json",
			`{"do":"label","class":"x","images":["`+strings.Repeat("0", 64)+`"]}`)
		r.Header.Set("Origin", origin)
		if a, err := http.DefaultTransport.RoundTrip(r); err != nil || a.StatusCode != code {
			t.Errorf("origin %s: %v, %v, want %d", origin, a.StatusCode, err, code)
		} else {
			a.Body.Close()
		}
	}
}

// TestBehindAProxy opens the page through a proxy that cuts a prefix off.
func TestBehindAProxy(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Token = secret })
	inside := must.Get(url.Parse(s.url))(t)
	proxy := http.StripPrefix("/label", httputil.NewSingleHostReverseProxy(inside))
	outside := httptest.NewServer(proxy)
	defer outside.Close()
	jar := must.Get(cookiejar.New(nil))(t)
	a := must.Get((&http.Client{Jar: jar}).Get(outside.URL + "/label/?token=" + url.QueryEscape(secret)))(t)
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK || a.Request.URL.Path != "/label/" || a.Request.URL.RawQuery != "" {
		t.Errorf("%d at %s", a.StatusCode, a.Request.URL)
	}
}

// TestFolderThatVanishes: the status says so while it is gone, or while only the place is
// there where its disk was mounted, and the photos stay.
func TestFolderThatVanishes(t *testing.T) {
	s := newSite(t, nil)
	s.loaded(30)
	away := filepath.Join(s.dir, "away")
	must.Do(t, os.Rename(s.server.Root, away))
	unread := func(why string) {
		s.until(func(a statusAnswer) bool { return a.Images.Unread != nil && strings.Contains(*a.Images.Unread, why) })
	}
	unread("no such folder")
	must.Do(t, os.Mkdir(s.server.Root, 0o755))
	unread("is empty, where 31 photos were") // one could not be read
	must.Do(t, errors.Join(os.Remove(s.server.Root), os.Rename(away, s.server.Root)))
	s.until(func(a statusAnswer) bool { return a.Images.Unread == nil && a.Images.Embedded == 30 })
}
