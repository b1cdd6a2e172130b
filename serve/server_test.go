package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

const dim = 8

// drawn is an Embedder of files that say what they show: "IMG 2 …" is an example of
// class 2.
type drawn struct{}

var errNoPhoto = errors.New("not a photo")

func (drawn) vector(content []byte) ([]float32, error) {
	var class int
	if _, err := fmt.Sscanf(string(content), "IMG %d", &class); err != nil {
		return nil, errNoPhoto
	}
	h := cache.HashOf(content)
	mean, noise := random.Stream(1, "mean", class), random.Stream(1, "noise", int(h[0]), int(h[1]))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(2*mean.NormFloat64() + 0.5*noise.NormFloat64())
	}
	return v, nil
}

func (d drawn) EmbedSeq(ctx context.Context, root string, samples iter.Seq[dataset.Sample],
	emit func(pixels.Item) error) (pixels.Counts, error) {
	for s := range samples {
		content, err := os.ReadFile(dataset.FullPath(root, s.File()))
		item := pixels.Item{Sample: s, Hash: pixels.ContentHash(cache.HashOf(content), s.Box), Err: err}
		if err == nil {
			item.Vector, item.Err = d.vector(content)
		}
		if err := emit(item); err != nil {
			return pixels.Counts{}, err
		}
	}
	return pixels.Counts{}, ctx.Err()
}

func (d drawn) EmbedContents(_ context.Context, files [][]byte) ([]pixels.Item, error) {
	out := make([]pixels.Item, len(files))
	for i, f := range files {
		out[i].Hash = cache.HashOf(f)
		out[i].Vector, out[i].Err = d.vector(f)
	}
	return out, nil
}

func (drawn) Thumbnail(_ context.Context, file string, side int) ([]byte, cache.Hash, error) {
	content, err := os.ReadFile(file)
	return fmt.Appendf(nil, "JPEG %d %s", side, content), cache.HashOf(content), err
}

func (d drawn) BoxThumbnail(ctx context.Context, file string, b *dataset.Box, side int) ([]byte, cache.Hash, error) {
	jpeg, of, err := d.Thumbnail(ctx, file, side)
	return fmt.Appendf(jpeg, " box %s", b), pixels.ContentHash(of, b), err
}

// A site is a server of a folder with photos of three classes.
type site struct {
	t      *testing.T
	dir    string
	server *Server
	url    string
	stop   func()
	api    map[string]any
	// seen are the routes and codes that were checked.
	seen map[string]bool
}

func newSite(t *testing.T, change func(*Options)) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), seen: map[string]bool{}}
	for i := range 30 {
		s.write(fmt.Sprintf("photos/cam%d/%02d.jpg", i%2, i), fmt.Sprintf("IMG %d %d", i%3, i))
	}
	s.write("photos/cam0/bad.jpg", "no photo")
	m := must.Get(model.New(model.Settings{Method: "plda", Heads: method.DefaultConfig()}))(t)
	root := filepath.Join(s.dir, "photos")
	o := Options{
		Embedder: drawn{}, Root: root, Title: "m · photos", Name: "m.model", Rescan: 10 * time.Millisecond,
		Thumbnails: filepath.Join(s.dir, "thumbs"),
		Scan: func(ctx context.Context) ([]dataset.Sample, error) {
			l, err := dataset.Scan(ctx, root, dataset.ScanOptions{})
			return l.Samples, err
		},
	}
	if change != nil {
		change(&o)
	}
	s.server = New(o)
	gap := time.Duration(0)
	if o.Events {
		gap = time.Minute
	}
	s.server.Session = must.Get(teach.Open(teach.Options{Model: filepath.Join(s.dir, "m.model"), Fresh: m, Dim: dim,
		Temp: s.dir, Gap: gap, Changed: s.server.Changed}))(t)
	s.url, s.stop = listen(t, s.server)
	t.Cleanup(func() {
		s.stop()
		if err := s.server.Session.Close(); err != nil {
			t.Error(err)
		}
	})
	s.describe()
	return s
}

func (s *site) write(name, content string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(content), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// describe reads openapi.yaml, against which every answer is checked.
func (s *site) describe() {
	s.t.Helper()
	must.Do(s.t, yaml.Unmarshal(description, &s.api))
}

// conforms checks an answer against what openapi.yaml says of its route and code.
func (s *site) conforms(method, path string, code int, kind string, body []byte) {
	s.t.Helper()
	for route, operations := range s.api["paths"].(map[string]any) {
		if !matches(route, path) {
			continue
		}
		operation, ok := operations.(map[string]any)[strings.ToLower(method)].(map[string]any)
		if !ok {
			continue
		}
		at := "/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(route) + "/" + strings.ToLower(method) +
			"/responses/" + fmt.Sprint(code)
		answer, ok := operation["responses"].(map[string]any)[fmt.Sprint(code)].(map[string]any)
		if !ok {
			s.t.Errorf("%s %s: the code %d is not described: %s", method, path, code, body)
			return
		}
		if ref, ok := answer["$ref"].(string); ok {
			at = strings.TrimPrefix(ref, "#")
			responses := s.api["components"].(map[string]any)["responses"].(map[string]any)
			answer = responses[filepath.Base(at)].(map[string]any)
		}
		s.seen[method+" "+route] = s.seen[method+" "+route] || code < 300
		kind, _, _ = strings.Cut(kind, ";")
		content, _ := answer["content"].(map[string]any)
		if _, ok := content[kind]; !ok && len(content) > 0 {
			s.t.Errorf("%s %s answers %s, described are %v", method, path, kind, content)
		}
		if kind == "application/json" {
			s.valid(at+"/content/application~1json/schema", method+" "+path, body)
		}
		return
	}
	s.t.Errorf("%s %s is not described", method, path)
}

func (s *site) valid(at, what string, body []byte) {
	s.t.Helper()
	c, err := theChecker()
	if err == nil {
		err = c.check(at, body)
	}
	if err != nil {
		s.t.Errorf("%s: %v\n%s", what, err, body)
	}
}

func matches(route, path string) bool {
	a, b := strings.Split(route, "/"), strings.Split(path, "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !strings.HasPrefix(a[i], "{") {
			return false
		}
	}
	return true
}

// send sends a request, checks the answer against the description, and returns it.
func (s *site) send(r *http.Request) (int, []byte) {
	s.t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatalf("%v; %s, %d bytes", err, r.Header.Get("Content-Type"), r.ContentLength)
	}
	defer answer.Body.Close()
	body := must.Get(io.ReadAll(answer.Body))(s.t)
	s.conforms(r.Method, r.URL.EscapedPath(), answer.StatusCode, answer.Header.Get("Content-Type"), body)
	return answer.StatusCode, body
}

func (s *site) request(method, path, kind, body string) *http.Request {
	s.t.Helper()
	r := must.Get(http.NewRequest(method, s.url+path, strings.NewReader(body)))(s.t)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return r
}

// get answers a GET with JSON into v.
func (s *site) get(path string, v any) {
	s.t.Helper()
	s.into(s.request("GET", path, "", ""), v)
}

func (s *site) post(path string, body, v any) {
	s.t.Helper()
	text := must.Get(json.Marshal(body))(s.t)
	s.into(s.request("POST", path, "application/json", string(text)), v)
}

func (s *site) into(r *http.Request, v any) {
	s.t.Helper()
	code, body := s.send(r)
	if code != http.StatusOK {
		s.t.Fatalf("%s %s: %d %s", r.Method, r.URL, code, body)
	}
	if v == nil {
		return
	}
	must.Do(s.t, json.Unmarshal(body, v))
}

type listing struct {
	Images  []image `json:"images"`
	Total   int     `json:"total"`
	Untimed int     `json:"untimed"`
	Next    *string `json:"next"`
}

// until waits for an event after which done holds.
func (s *site) until(done func(statusAnswer) bool) {
	s.t.Helper()
	events, leave, ok := s.server.hub.join()
	if !ok {
		s.t.Fatal("too many clients")
	}
	defer leave()
	for !done(s.server.newStatus()) {
		select {
		case <-events:
		case <-time.After(20 * time.Second):
			s.t.Fatalf("nothing happens: %+v", s.server.newStatus())
		}
	}
}

// loaded waits until n photos are there, and returns them.
func (s *site) loaded(n int) []image {
	s.t.Helper()
	s.until(func(a statusAnswer) bool { return a.Images.Embedded == n && !a.Images.Scanning })
	var all listing
	s.get("/v1/images?limit=500", &all)
	if all.Total != n || len(all.Images) != n {
		s.t.Fatalf("%d photos, want %d", all.Total, n)
	}
	return all.Images
}

// teach labels the first photos with their class.
func (s *site) teach(photos []image) {
	s.t.Helper()
	for _, p := range photos {
		s.post("/v1/decisions", map[string]any{"do": "label", "images": []teach.ID{p.ID}, "class": s.truth(p)}, nil)
	}
	s.server.Session.Wait()
}

func (s *site) truth(p image) string {
	content := must.Get(os.ReadFile(filepath.Join(s.dir, "photos", p.Folder, p.Name)))(s.t)
	return "class " + strings.Fields(string(content))[1]
}

// TestEveryRoute uses every route of openapi.yaml, and checks each answer against it.
func TestEveryRoute(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Words = func() (Wording, error) { return &reader{}, nil } })
	photos := s.loaded(30)
	if code, body := s.send(s.request("POST", "/v1/label", "image/jpeg", "IMG 1 x")); code != http.StatusConflict {
		t.Errorf("label without a model: %d %s", code, body)
	}
	var start listing
	if s.get("/v1/images?view=start&limit=5", &start); len(start.Images) != 5 {
		t.Errorf("%d photos to start with", len(start.Images))
	}
	s.teach(photos[:15])
	for _, view := range []string{"all", "check", "unknown", "suspicious", "class&class=class%200",
		"check&folder=cam1&q=2", "all&since=2020-01-01&until=2100-01-01&decided=true"} {
		s.get("/v1/images?limit=2&view="+view, nil)
	}
	var check listing
	s.get("/v1/images?view=check&limit=10", &check)
	if check.Total != 15 || check.Next == nil {
		t.Fatalf("to check: %+v", check)
	}
	right := 0
	for _, p := range check.Images {
		if p.Prediction[0].Class == s.truth(p) {
			right++
		}
	}
	if right < 9 {
		t.Errorf("%d of 10 are right", right)
	}
	s.get("/v1/images?view=check&limit=10&cursor="+*check.Next, &check)
	if len(check.Images) != 5 || check.Next != nil {
		t.Errorf("second page: %d photos, next %v", len(check.Images), check.Next)
	}
	id := photos[20].ID.String()
	s.get("/v1/images/"+id, nil)
	for _, picture := range []string{"thumb", "thumb", "photo"} { // made, kept, made
		if code, body := s.send(s.request("GET", "/v1/images/"+id+"/"+picture, "", "")); code != 200 ||
			!bytes.HasPrefix(body, []byte("JPEG")) {
			t.Errorf("%s: %d %s", picture, code, body)
		}
	}
	s.get("/v1/images/"+id+"/similar?limit=3&decided=true", nil)
	s.into(s.request("POST", "/v1/similar?limit=3", "image/jpeg", "IMG 1 x"), nil)
	s.get("/v1/search?limit=3&q=2", nil)
	s.get("/v1/groups", nil)
	s.server.Session.Wait()
	s.get("/v1/groups?limit=2", nil)
	s.get("/v1/map?taken=class%200", nil)
	s.get("/v1/unreadable", nil)
	s.post("/v1/map", map[string]any{"arrange": false}, nil)
	s.get("/v1/duplicates?limit=2&folder=cam1", nil)
	s.get("/v1/images?limit=2&duplicates="+photos[0].ID.String(), nil)
	s.get("/v1/classes", nil)
	s.get("/v1/history?limit=3", nil)
	s.get("/v1/status", nil)
	s.get("/v1/accept?above=0.5", nil)
	var drawn listing
	if s.post("/v1/check", map[string]any{"above": 0.3, "n": 2}, &drawn); len(drawn.Images) != 2 {
		t.Errorf("%d photos were drawn to check", len(drawn.Images))
	}

	var done struct{ Step step }
	s.post("/v1/accept", map[string]any{"above": 0.3}, &done)
	if done.Step.Images == 0 {
		t.Error("nothing was accepted")
	}
	var accepted listing
	of := fmt.Sprint(done.Step.Seq)
	if s.get("/v1/images?view=accepted&limit=500&of="+of, &accepted); accepted.Total != done.Step.Images {
		t.Errorf("%d photos are listed as accepted, %d were", accepted.Total, done.Step.Images)
	}
	s.post("/v1/decisions", map[string]any{"do": "unlabel", "of": done.Step.Seq}, nil)
	if s.get("/v1/images?view=accepted", &accepted); accepted.Total != 0 {
		t.Errorf("%d photos are accepted after that was taken back", accepted.Total)
	}
	s.post("/v1/undo", nil, nil)
	s.post("/v1/undo", nil, nil)
	s.post("/v1/redo", nil, nil)
	s.post("/v1/decisions", map[string]any{"do": "rename", "class": "class 0", "to": "<b>&amp; \u202e</b>"}, nil)
	s.post("/v1/decisions", map[string]any{"do": "merge", "class": "class 1", "to": "class 2"}, nil)
	s.post("/v1/undo", nil, nil)
	s.post("/v1/decisions", map[string]any{"do": "unlabel", "images": []string{photos[0].ID.String()}}, nil)
	last := photos[len(photos)-1].ID.String()
	s.post("/v1/decisions",
		map[string]any{"do": "several", "images": []string{last}, "labels": []string{"x", "y;z"}}, nil)
	_, labels := s.send(s.request("GET", "/v1/labels.csv", "", ""))
	if !strings.Contains(string(labels), "x;y%3Bz") {
		t.Errorf("several things are not exported: %s", labels)
	}
	s.post("/v1/undo", nil, nil)

	s.into(s.request("POST", "/v1/learn?class=class%201", "application/octet-stream", "IMG 1 elsewhere"), nil)
	var answer struct{ Images []labelled }
	s.into(s.request("POST", "/v1/label?top=2", "image/jpeg", "IMG 1 y"), &answer)
	if len(answer.Images) != 1 || answer.Images[0].Label != "class 1" || len(answer.Images[0].Top) != 2 {
		t.Errorf("label: %+v", answer)
	}
	kind, form := form("IMG 0 a", "IMG 2 b", "IMG 1 c")
	s.into(s.request("POST", "/v1/label", kind, form), &answer)
	if len(answer.Images) != 3 || answer.Images[1].Label != "class 2" || answer.Images[1].Name != "1.jpg" {
		t.Errorf("label of a form: %+v", answer)
	}
	s.into(s.request("POST", "/v1/embed", kind, form), nil)
	s.post("/v1/save", nil, nil)
	s.post("/v1/look", nil, nil)
	s.server.Quit = func() {}
	s.expect(http.StatusAccepted, "true", "POST", "/v1/quit", "")
	var now struct{ Points []point }
	if s.get("/v1/points", &now); len(now.Points) < 2 || !now.Points[len(now.Points)-1].Saved {
		t.Errorf("points: %+v", now)
	}
	s.post("/v1/back", map[string]any{"seq": now.Points[0].Seq}, &done)
	counts := s.server.newStatus().Account.Decided
	if done.Step.Do != teach.Back || counts.Person != now.Points[0].Labels {
		t.Errorf("back at line %d: %+v, %+v", now.Points[0].Seq, done, counts)
	}
	s.post("/v1/undo", nil, nil)
	s.post("/v1/forget", map[string]any{"images": []string{photos[3].ID.String()}}, nil)
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/openapi.yaml", "/v1/models", "/v1/labels.csv",
		"/v1/labels.csv?all=1", "/v1/copies.csv"} {
		if code, body := s.send(s.request("GET", path, "", "")); code != 200 || len(body) == 0 {
			t.Errorf("%s: %d", path, code)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	events := must.Get(http.DefaultClient.Do(s.request("GET", "/v1/events", "", "").WithContext(ctx)))(t)
	first := make([]byte, 14)
	if _, err := io.ReadFull(events.Body, first); err != nil || string(first) != "event: status\n" {
		t.Errorf("events: %q, %v", first, err)
	}
	cancel()
	events.Body.Close()
	s.seen["GET /v1/events"] = true
	for pattern := range s.server.routes() {
		method, route, _ := strings.Cut(pattern, " ")
		operations, _ := s.api["paths"].(map[string]any)[route].(map[string]any)
		if operations[strings.ToLower(method)] == nil {
			t.Errorf("%s is served, and openapi.yaml does not describe it", pattern)
		}
	}
	for route, operations := range s.api["paths"].(map[string]any) {
		for method := range operations.(map[string]any) {
			if r := strings.ToUpper(method) + " " + route; !s.seen[r] {
				t.Errorf("%s is in openapi.yaml, and this test does not use it", r)
			}
		}
	}
}

func form(photos ...string) (kind, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i, p := range photos {
		part, _ := w.CreateFormFile("image", fmt.Sprintf("%d.jpg", i))
		_, _ = io.WriteString(part, p)
	}
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

// Requests that are wrong, or from elsewhere, are refused with a described code, and
// change nothing.
func TestHostileRequests(t *testing.T) {
	s := newSite(t, nil)
	photos := s.loaded(30)
	s.teach(photos[:6])
	before := s.server.newStatus().Seq
	id := photos[0].ID.String()
	with := func(r *http.Request, name, value string) *http.Request {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
		return r
	}
	undo := func() *http.Request { return s.request("POST", "/v1/undo", "", "") }
	kind, many := form(strings.Split(strings.Repeat("IMG 1,", maxPhotos)+"IMG 1", ",")...)
	for name, c := range map[string]struct {
		request *http.Request
		code    int
	}{
		"foreign host":     {with(s.request("GET", "/v1/status", "", ""), "Host", "evil.example:80"), 403},
		"rebound name":     {with(s.request("GET", "/v1/status", "", ""), "Host", "127.0.0.1.evil.example"), 403},
		"foreign origin":   {with(undo(), "Origin", "https://evil.example"), 403},
		"null origin":      {with(undo(), "Origin", "null"), 403},
		"other port":       {with(undo(), "Origin", "http://127.0.0.1:1"), 403},
		"cross-site fetch": {with(undo(), "Sec-Fetch-Site", "cross-site"), 403},
		"form post of JSON": {s.request("POST", "/v1/decisions", "text/plain",
			`{"do":"rename","class":"class 0","to":"x"}`), 415},
		"one thing": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"several","labels":["x"],"images":["`+strings.Repeat("0", 64)+`"]}`), 400},
		"what accepted nothing": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"unlabel","of":1}`), 404},
		"of with photos": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"unlabel","of":1,"images":["`+strings.Repeat("0", 64)+`"]}`), 400},
		"no JSON":    {s.request("POST", "/v1/decisions", "application/json", `{"do":`), 400},
		"two values": {s.request("POST", "/v1/decisions", "application/json", `{"do":"label"}{}`), 400},
		"unknown field": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"label","path":"/etc/passwd"}`), 400},
		"no such photo": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"label","class":"x","images":["`+strings.Repeat("0", 64)+`"]}`), 404},
		"short id": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"label","class":"x","images":["00"]}`), 400},
		"null for a photo": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"label","class":"x","images":[null]}`), 404},
		"too many ids": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"label","class":"x","images":["`+strings.Repeat(id+`","`, maxImages)+id+`"]}`), 400},
		"too many ids to forget": {s.request("POST", "/v1/forget", "application/json",
			`{"images":["`+strings.Repeat(id+`","`, maxImages)+id+`"]}`), 400},
		"a name that is not UTF-8": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"rename","class":"class 0","to":"caf`+"\xe9"+`"}`), 400},
		"a name with a NUL": {s.request("POST", "/v1/decisions", "application/json",
			`{"do":"label","class":"a\u0000","images":["`+id+`"]}`), 400},
		"a name that is long": {s.request("POST", "/v1/decisions", "application/json", `{"do":"label","class":"`+
			strings.Repeat("x", 300)+`","images":["`+id+`"]}`), 400},
		"large JSON": {s.request("POST", "/v1/decisions", "application/json", `{"do":"`+
			strings.Repeat("x", maxJSON)+`"}`), 413},
		"an id that is a path":   {s.request("GET", "/v1/images/..%2F..%2Fetc%2Fpasswd", "", ""), 400},
		"a picture by a path":    {s.request("GET", "/v1/images/%2Fetc%2Fpasswd/thumb", "", ""), 400},
		"an unknown picture":     {s.request("GET", "/v1/images/"+strings.Repeat("a", 64)+"/thumb", "", ""), 404},
		"an unknown view":        {s.request("GET", "/v1/images?view=secrets", "", ""), 400},
		"a limit of zero":        {s.request("GET", "/v1/images?limit=0", "", ""), 400},
		"a limit that is large":  {s.request("GET", "/v1/images?limit=501", "", ""), 400},
		"a cursor that is wrong": {s.request("GET", "/v1/images?cursor=AAAA", "", ""), 400},
		"a probability of two":   {s.request("GET", "/v1/accept?above=2", "", ""), 400},
		"a group of long ago":    {s.request("GET", "/v1/images?group=1", "", ""), 409},
		"an event, of none":      {s.request("GET", "/v1/images?events=true", "", ""), 400},
		"an event of no photo":   {s.request("GET", "/v1/images?event="+strings.Repeat("0", 64), "", ""), 404},
		"an event of no id":      {s.request("GET", "/v1/images?event=1", "", ""), 400},
		"beside no photo":        {s.request("GET", "/v1/images?beside="+strings.Repeat("0", 64), "", ""), 404},
		"beside no id":           {s.request("GET", "/v1/images?beside=x", "", ""), 400},
		"a date that is wrong":   {s.request("GET", "/v1/images?since=yesterday", "", ""), 400},
		"no photo":               {s.request("POST", "/v1/label", "image/jpeg", "no photo"), 422},
		"an empty photo":         {s.request("POST", "/v1/label", "image/jpeg", ""), 400},
		"no kind":                {s.request("POST", "/v1/label", "", "IMG 1"), 415},
		"another kind":           {s.request("POST", "/v1/label", "text/html", "IMG 1"), 415},
		"a large photo":          {s.request("POST", "/v1/label", "image/jpeg", strings.Repeat("x", maxBody+1)), 413},
		"too many photos":        {s.request("POST", "/v1/label", kind, many), 413},
		"a broken form":          {s.request("POST", "/v1/label", kind, many[:100]), 400},
		"learn without a class":  {s.request("POST", "/v1/learn", "image/jpeg", "IMG 1"), 400},
		"back to nowhere":        {s.request("POST", "/v1/back", "application/json", `{"seq":1000}`), 404},
		"back to now": {s.request("POST", "/v1/back", "application/json", fmt.Sprintf(`{"seq":%d}`, before)),
			409},
		"forget nothing": {s.request("POST", "/v1/forget", "application/json", `{"images":[]}`), 400},
	} {
		if code, body := s.send(c.request); code != c.code || bytes.Contains(body, []byte(s.dir)) {
			t.Errorf("%s: %d %s, want %d", name, code, body, c.code)
		}
	}
	if after := s.server.newStatus().Seq; after != before {
		t.Errorf("the journal grew from %d to %d lines", before, after)
	}
	answer := must.Get(http.Get(s.url + "/"))(t)
	defer answer.Body.Close()
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'self'") {
		t.Errorf("policy %q", policy)
	}
}

// With a token, a request without it learns nothing.
func TestToken(t *testing.T) {
	const token = "0123456789abcdef"
	s := newSite(t, func(o *Options) { o.Token = token })
	for _, given := range []string{"", "Bearer ", "Bearer wrong", "Basic " + token} {
		r := s.request("GET", "/v1/status", "", "")
		r.Header.Set("Authorization", given)
		if code, _ := s.send(r); code != http.StatusUnauthorized {
			t.Errorf("%q: %d", given, code)
		}
	}
	r := s.request("GET", "/v1/status", "", "")
	r.Header.Set("Authorization", "Bearer "+token)
	r.Host = "photos.example"
	if code, _ := s.send(r); code != 200 {
		t.Errorf("with the token: %d", code)
	}
	w := httptest.NewRecorder()
	s.server.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/?token="+token, nil))
	cookies := w.Result().Cookies()
	if w.Code != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].HttpOnly ||
		cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("%d, %v", w.Code, cookies)
	}
	r = s.request("GET", "/v1/status", "", "")
	r.AddCookie(cookies[0])
	r.Header.Set("Authorization", "Basic a proxy's own")
	if code, _ := s.send(r); code != 200 {
		t.Errorf("with the cookie: %d", code)
	}
	r.Header.Set("Authorization", "Bearer wrong")
	if code, _ := s.send(r); code != http.StatusUnauthorized {
		t.Errorf("with the cookie and another token: %d", code)
	}
	other := New(Options{Config: Config{Token: token + "2"}})
	if cookies[0].Name == other.guard().cookie() || cookies[0].Name != s.server.guard().cookie() {
		t.Errorf("servers of two ports have the cookies %s and %s", cookies[0].Name, other.guard().cookie())
	}
}

// stalled is a body that says when it is read, and then sends nothing.
type stalled struct {
	reading chan<- struct{}
	end     <-chan struct{}
}

func (b stalled) Read([]byte) (int, error) {
	b.reading <- struct{}{}
	<-b.end
	return 0, io.ErrUnexpectedEOF
}

// TestStalledUploads: clients that have begun to send photos and do not go on keep nobody
// waiting, and what they hold is given back.
func TestStalledUploads(t *testing.T) {
	s := newSite(t, nil)
	s.teach(s.loaded(30)[:6])
	const n = 100
	reading, end := make(chan struct{}), make(chan struct{})
	var clients sync.WaitGroup
	for range n {
		clients.Go(func() {
			r := httptest.NewRequest("POST", "/v1/label", stalled{reading, end})
			r.Host = "localhost"
			r.Header.Set("Content-Type", "image/jpeg")
			s.server.Handler().ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	for range n {
		<-reading
	}
	if code, body := s.send(s.request("POST", "/v1/label", "image/jpeg", "IMG 1 new")); code != http.StatusOK {
		t.Errorf("behind %d stalled clients: %d %s", n, code, body)
	}
	close(end)
	clients.Wait()
	if !s.server.uploads.TryAcquire(uploadMemory) {
		t.Error("some of the memory for photos is still taken")
	}
}

// TestRefusedListenersAreNoErrors of the server, which would fill its log.
func TestRefusedListenersAreNoErrors(t *testing.T) {
	var said lines
	s := newSite(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&said, nil)) })
	for range maxClients {
		_, leave, ok := s.server.hub.join()
		if !ok {
			t.Fatal("there are too many already")
		}
		defer leave()
	}
	if code, _ := s.send(s.request("GET", "/v1/events", "", "")); code != http.StatusServiceUnavailable {
		t.Errorf("the answer is %d", code)
	}
	if text := said.text(); strings.Contains(text, "level=ERROR") {
		t.Errorf("the server says: %s", text)
	}
}

// Photos that appear, change and vanish are followed.
func TestFolderIsWatched(t *testing.T) {
	s := newSite(t, nil)
	s.loaded(30)
	s.write("photos/new/a.jpg", "IMG 1 new")
	s.write("photos/cam0/bad.jpg", "IMG 2 whole now")
	photos := s.loaded(32)
	for _, p := range photos[:2] {
		must.Do(t, os.Remove(filepath.Join(s.dir, "photos", p.Folder, p.Name)))
	}
	s.loaded(30)
}
