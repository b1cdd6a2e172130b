package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// A guard lets requests through that may come.
type guard struct {
	Config // as in Options
	// Loopback requires a name of the loopback interface as host, with a token too.
	Loopback bool
	Log      *slog.Logger
}

// guard returns that of the server.
func (s *Server) guard() *guard {
	return &guard{Config: s.Config, Log: s.Log}
}

// cookie is the name of the cookie with the token. Servers on several ports of a machine
// share their cookies, so each has its own.
func (g *guard) cookie() string {
	sum := sha256.Sum256([]byte(g.Token))
	return fmt.Sprintf("pipeline-token-%x", sum[:4])
}

// policy lets the page load only what the server itself serves; pictures that are
// dropped on the page are blobs.
const policy = "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// protect checks where a request comes from before next sees it.
func (g *guard) protect(next http.Handler) http.Handler {
	sameOrigin := g.origins()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if (g.Token == "" || g.Loopback) && !isLoopback(r.Host) && !g.isHost(r.Host) {
			remedy := "open the address that the program printed"
			if !g.Loopback {
				remedy = "open http://127.0.0.1 with the port that the server printed or, behind a proxy, start the " +
					"server with --hosts " + hostName(r.Host)
			}
			refuse(w, http.StatusForbidden, fmt.Sprintf("the host %q is not a name of this machine: %s", r.Host,
				remedy))
			return
		}
		if err := sameOrigin.Check(r); err != nil {
			refuse(w, http.StatusForbidden, "the request comes from another site")
			return
		}
		if g.Token != "" && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" && !g.admitted(w, r) {
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
func (g *guard) isHost(host string) bool {
	return slices.ContainsFunc(g.Hosts, func(allowed string) bool {
		return strings.EqualFold(allowed, host) || strings.EqualFold(allowed, hostName(host))
	})
}

// origins returns the check that a request comes from the page itself, which a proxy may
// serve under other names.
func (g *guard) origins() *http.CrossOriginProtection {
	var c http.CrossOriginProtection
	for _, host := range g.Hosts {
		for _, scheme := range []string{"http://", "https://"} {
			if err := c.AddTrustedOrigin(scheme + host); err != nil {
				g.Log.Warn("a host of the settings is not used", "host", host, "reason", err)
			}
		}
	}
	return &c
}

// prefixed removes BasePath from requests that a proxy passes on with it.
func (g *guard) prefixed(next http.Handler) http.Handler {
	base := cleanPrefix(g.BasePath)
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
func (g *guard) prefix(r *http.Request) string {
	if base := cleanPrefix(g.BasePath); base != "" {
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

// isHTTPS reports whether the outermost of the proxies says that it was asked by https.
func isHTTPS(r *http.Request) bool {
	outermost, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(outermost), "https")
}

// isPage reports whether a path is that of a page, where an address may have a token.
func isPage(path string) bool { return path == "/" || path == sitePath+"/" }

// admitted checks the token. Opening ?token=… of a page in a browser makes it a cookie.
func (g *guard) admitted(w http.ResponseWriter, r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if cookie, err := r.Cookie(g.cookie()); err == nil && !ok { // a proxy may have an Authorization of its own
		given = cookie.Value
	}
	asked := ""
	if r.Method == http.MethodGet && isPage(r.URL.Path) {
		asked = r.URL.Query().Get("token")
	}
	switch {
	case g.isToken(asked):
		http.SetCookie(w, &http.Cookie{Name: g.cookie(), Value: asked, Path: g.prefix(r) + "/", HttpOnly: true,
			SameSite: http.SameSiteStrictMode, Secure: isHTTPS(r)})
		redirect(w, "./") // without the token, wherever a proxy has the page
		return false
	case g.isToken(given):
		return true
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	refuse(w, http.StatusUnauthorized,
		"the token is missing or wrong: use the address with the token that the server printed, or the header "+
			"Authorization: Bearer TOKEN")
	return false
}

func (g *guard) isToken(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(g.Token)) == 1
}
