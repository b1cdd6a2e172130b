package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// cookie is the name of the cookie with the token. Servers on several ports of a machine
// share their cookies, so each has its own.
func (s *Server) cookie() string {
	sum := sha256.Sum256([]byte(s.Token))
	return fmt.Sprintf("pipeline-token-%x", sum[:4])
}

// policy lets the page load only what the server itself serves; pictures that are
// dropped on the page are blobs.
const policy = "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// guarded checks where a request comes from before next sees it.
func (s *Server) guarded(next http.Handler) http.Handler {
	sameOrigin := s.origins()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if s.Token == "" && !isLoopback(r.Host) && !s.isHost(r.Host) {
			refuse(w, http.StatusForbidden, fmt.Sprintf("the host %q is not a name of this machine: open http://127.0.0.1 "+
				"with the port that the server printed or, behind a proxy, start the server with --hosts %s", r.Host,
				hostName(r.Host)))
			return
		}
		if err := sameOrigin.Check(r); err != nil {
			refuse(w, http.StatusForbidden, "the request comes from another site")
			return
		}
		if s.Token != "" && r.URL.Path != "/healthz" && !s.admitted(w, r) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, code int, text string) {
	writeJSON(w, code, map[string]string{"error": text})
}

// isLoopback reports whether a Host header names the loopback interface.
func isLoopback(host string) bool {
	name := hostName(host)
	if strings.EqualFold(name, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback()
}

// hostName returns a host without its port and brackets.
func hostName(host string) string {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	return name
}

// isHost reports whether a proxy may name a host: with the port, or without any.
func (s *Server) isHost(host string) bool {
	return slices.ContainsFunc(s.Hosts, func(allowed string) bool {
		return strings.EqualFold(allowed, host) || strings.EqualFold(allowed, hostName(host))
	})
}

// origins returns the check that a request comes from the page itself, which a proxy may
// serve under other names.
func (s *Server) origins() *http.CrossOriginProtection {
	var c http.CrossOriginProtection
	for _, host := range s.Hosts {
		for _, scheme := range []string{"http://", "https://"} {
			if err := c.AddTrustedOrigin(scheme + host); err != nil {
				s.Log.Warn("a host of the settings is not used", "host", host, "reason", err)
			}
		}
	}
	return &c
}

// prefixed removes BasePath from requests that a proxy passes on with it.
func (s *Server) prefixed(next http.Handler) http.Handler {
	base := cleanPrefix(s.BasePath)
	if base == "" {
		return next
	}
	stripped := http.StripPrefix(base, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == base:
			redirect(w, base+"/")
		case strings.HasPrefix(r.URL.Path, base+"/"):
			stripped.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// prefix is the path at which a browser has the page, without a slash at its end.
func (s *Server) prefix(r *http.Request) string {
	if base := cleanPrefix(s.BasePath); base != "" {
		return base
	}
	return cleanPrefix(r.Header.Get("X-Forwarded-Prefix"))
}

// cleanPrefix returns a path that is safe in a header, without a slash at its end; ""
// if it is none.
func cleanPrefix(path string) string {
	path = strings.TrimRight(path, "/")
	if !prefixForm.MatchString(path) || strings.Contains(path, "/.") {
		return ""
	}
	return path
}

var prefixForm = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

// redirect sends a browser to another path. http.Redirect would make a relative one
// absolute, which is wrong below the path of a proxy.
func redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}

// admitted checks the token. Opening /?token=… in a browser makes it a cookie.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if cookie, err := r.Cookie(s.cookie()); err == nil && !ok { // a proxy may have an Authorization of its own
		given = cookie.Value
	}
	asked := ""
	if r.Method == http.MethodGet && r.URL.Path == "/" {
		asked = r.URL.Query().Get("token")
	}
	switch {
	case s.isToken(asked):
		http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: asked, Path: s.prefix(r) + "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode, Secure: r.Header.Get("X-Forwarded-Proto") == "https"})
		redirect(w, "./") // without the token, wherever a proxy has the page
		return false
	case s.isToken(given):
		return true
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, http.StatusUnauthorized,
		"the token is missing or wrong: use the address with the token that the server printed, or the header "+
			"Authorization: Bearer TOKEN")
	return false
}

func (s *Server) isToken(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(s.Token)) == 1
}
