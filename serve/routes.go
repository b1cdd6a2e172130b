package serve

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A handler answers a request, or returns why it does not.
type handler func(w http.ResponseWriter, r *http.Request) error

// mux returns what answers the requests of routes, such as "GET /v1/status", and counts them. Another
// method of a route is refused with those that it has, and so is another path of the API.
func (m *metrics) mux(routes map[string]handler, log *slog.Logger) *http.ServeMux {
	mux, methods := http.NewServeMux(), map[string][]string{}
	for pattern, handle := range routes {
		mux.Handle(pattern, m.answering(pattern, handle, log))
		method, path, _ := strings.Cut(pattern, " ")
		methods[path] = append(methods[path], method)
		if method == http.MethodGet {
			methods[path] = append(methods[path], http.MethodHead)
		}
	}
	for path, allowed := range methods {
		slices.Sort(allowed)
		mux.Handle(path, m.answering("other "+path, wrongMethod(strings.Join(allowed, ", ")), log))
	}
	mux.Handle("/v1/", m.answering("other /v1/", func(http.ResponseWriter, *http.Request) error {
		return fail(http.StatusNotFound, "there is no such route: /openapi.yaml lists them")
	}, log))
	return mux
}

// answering turns errors into answers, and counts.
func (m *metrics) answering(pattern string, handle handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		code := http.StatusOK
		if err := handle(w, r); err != nil {
			code = codeOf(err)
			fault := code >= http.StatusInternalServerError && code != http.StatusServiceUnavailable
			if fault && r.Context().Err() == nil {
				log.Error("a request failed", "route", pattern, "reason", err)
			}
			writeJSON(w, code, map[string]string{"error": textOf(err, code)})
		}
		m.count(pattern, code, time.Since(begun))
	})
}

// wrongMethod refuses a request to a route that has other methods.
func wrongMethod(allowed string) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allowed)
		return fail(http.StatusMethodNotAllowed, "%s does not take %s: it takes %s", r.URL.Path, r.Method, allowed)
	}
}

// only lets requests of some methods through.
func only(next http.Handler, allowed string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(strings.Split(allowed, ", "), r.Method) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Allow", allowed)
		refuse(w, http.StatusMethodNotAllowed, "pages are only read")
	})
}
