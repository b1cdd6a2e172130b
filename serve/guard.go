package serve

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

const cookieName = "pipeline-token"

// policy lets the page load only what the server itself serves; pictures that are
// dropped on the page are blobs.
const policy = "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// guarded checks where a request comes from before next sees it.
func (s *Server) guarded(next http.Handler) http.Handler {
	var sameOrigin http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if s.Token == "" && !isLoopback(r.Host) {
			refuse(w, http.StatusForbidden,
				"the host is not a name of this machine: open http://127.0.0.1 with the port that the server printed")
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
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback()
}

// admitted checks the token. Opening /?token=… in a browser makes it a cookie.
func (s *Server) admitted(w http.ResponseWriter, r *http.Request) bool {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if cookie, err := r.Cookie(cookieName); err == nil && given == "" {
		given = cookie.Value
	}
	asked := ""
	if r.Method == http.MethodGet && r.URL.Path == "/" {
		asked = r.URL.Query().Get("token")
	}
	switch {
	case s.isToken(asked):
		http.SetCookie(w,
			&http.Cookie{Name: cookieName, Value: asked, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/", http.StatusSeeOther)
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
