package serve_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/demo"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// few photos are of all classes, and more than a screen shows.
const few = 60

// A standIn answers the part of the API that the page uses, with made-up
// predictions for the demo's pictures: what the page shows then depends on
// nothing but the page.
type standIn struct {
	mu       sync.Mutex
	photos   []*shot
	classes  []string
	seq      int
	undo     []snapshot
	redo     []snapshot
	news     chan struct{} // closed and replaced at every change
	requests []string      // of changes, for the tests to look at
	// if it is not nil, the next list of photos is announced on it, and sent after a second value is taken
	held     chan struct{}
	gone     bool // the next connection for events ends, as if the server had
	statuses int  // made so far
	problem  any  // of the status; saving fails as long as there is one
	// if it is not nil, the next change is answered, with what held when it was made, after a value is taken from it
	delayed chan struct{}
	// if it is not nil, every change waits for a value or its end before it is made; those of refused photos are not
	gate    chan struct{}
	refused []string
	decided []string  // what was decided, of which class and about which photos
	drawn   []*shot   // of a spot check
	advised [2]string // what and which class, instead of the photos to check
	listed  string    // the last query of a list
	places  int       // version of the map; odd ones are not arranged
	found   []string  // by training
	within  string    // the query with which a change was asked for last
	damaged []string  // files that are no photos
	kept    string    // the photo of which others became copies last
	wrong   any       // of the account: how many labels are wrong
	called  any       // what the model takes the photos of a group for
	stopped bool      // the arrangement of the map
	boxed   bool      // each photo is a box, and those of a moment are an event on one photo
}

type shot struct {
	id, file, name, truth, label, by string
	labels                           []string
	random                           int
	sure                             float64 // the highest probability
}

type snapshot struct {
	text    string
	classes []string
	labels  map[string][2]string
}

var drawing struct {
	sync.Once
	dir string
	set demo.Set
	err error
}

// pictures returns the demo's pictures, drawn once for all tests, which only read them.
func pictures(t *testing.T) demo.Set {
	t.Helper()
	drawing.Do(func() {
		if drawing.dir, drawing.err = os.MkdirTemp("", "pictures-"); drawing.err == nil {
			drawing.set, drawing.err = demo.Generate(context.Background(), drawing.dir, 1)
		}
	})
	if drawing.err != nil {
		t.Fatal(drawing.err)
	}
	return drawing.set
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(drawing.dir)
	os.Exit(code)
}

// newStandIn serves the page with n photos, which are the demo's pictures again
// and again; without classes there is no model yet.
func newStandIn(t *testing.T, n int, trained bool) (*standIn, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	set := pictures(t)
	s := &standIn{news: make(chan struct{}), found: []string{}}
	for i := range n {
		p := set.Shown[i%len(set.Shown)]
		sum := sha256.Sum256([]byte(strconv.Itoa(i) + p.Path))
		one := &shot{id: hex.EncodeToString(sum[:]), file: filepath.Join(set.Photos, p.Path),
			name: fmt.Sprintf("%05d %s", i, p.Path), truth: p.Class}
		one.random = int(binary.BigEndian.Uint16(sum[:]))
		one.sure = 1 - math.Pow(float64(one.random%1000)/1000, 4)*0.7 - 0.001
		if trained && p.Known && !slices.Contains(s.classes, p.Class) {
			s.classes = append(s.classes, p.Class)
		}
		s.photos = append(s.photos, one)
	}
	slices.Sort(s.classes)
	if trained {
		for i := 0; i < n; i += 9 {
			s.photos[i].label, s.photos[i].by = s.classes[i%len(s.classes)], "folder"
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("page")))
	mux.HandleFunc("GET /v1/images", s.images)
	mux.HandleFunc("GET /v1/images/{id}",
		func(w http.ResponseWriter, r *http.Request) { answer(w, s.image(s.find(r.PathValue("id")))) })
	mux.HandleFunc("GET /v1/images/{id}/{kind}", s.picture)
	mux.HandleFunc("GET /v1/images/{id}/similar", s.similar)
	mux.HandleFunc("POST /v1/similar", s.similar)
	mux.HandleFunc("GET /v1/search", s.similar)
	mux.HandleFunc("GET /v1/groups", s.groups)
	mux.HandleFunc("GET /v1/duplicates", s.duplicates)
	mux.HandleFunc("GET /v1/unreadable", s.unreadable)
	mux.HandleFunc("GET /v1/map", s.chart)
	mux.HandleFunc("POST /v1/map", s.arrange)
	mux.HandleFunc("GET /v1/classes", s.listClasses)
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) { answer(w, s.status()) })
	mux.HandleFunc("GET /v1/accept", func(w http.ResponseWriter, r *http.Request) {
		answer(w, s.outlook(r.FormValue("above"), r.FormValue("class")))
	})
	mux.HandleFunc("GET /v1/points", s.points)
	mux.HandleFunc("GET /v1/history", s.history)
	mux.HandleFunc("POST /v1/forget", s.forget)
	mux.HandleFunc("POST /v1/accept", s.change)
	mux.HandleFunc("POST /v1/check", s.check)
	mux.HandleFunc("POST /v1/decisions", s.change)
	mux.HandleFunc("POST /v1/{back}", s.change)
	mux.HandleFunc("GET /v1/events", s.events)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy",
			"default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "+
				"frame-ancestors 'none'")
		s.mu.Lock()
		defer s.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return s, server.URL
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a browser that has gone is no error of the page
}

func (s *standIn) find(id string) *shot {
	return s.photos[slices.IndexFunc(s.photos, func(p *shot) bool { return p.id == id })]
}

// best returns the column of the likeliest class: mostly that of the truth.
func (s *standIn) best(p *shot) int {
	at := slices.Index(s.classes, p.truth)
	if at < 0 || p.random%13 == 0 {
		at = p.random % len(s.classes)
	}
	return at
}

// predicted returns the likeliest class, "" without a model.
func (s *standIn) predicted(p *shot) string {
	if len(s.classes) < 2 {
		return ""
	}
	return s.classes[s.best(p)]
}

func (s *standIn) prediction(p *shot) []map[string]any {
	top := []map[string]any{}
	if len(s.classes) < 2 {
		return top
	}
	first, share, rest := s.best(p), p.sure, 1-p.sure
	for i := range min(5, len(s.classes)) {
		top = append(top, map[string]any{"class": s.classes[(first+i)%len(s.classes)], "probability": share})
		share, rest = rest*0.4, rest*0.6
	}
	return top
}

// rather returns the class that is more probable than a label, "" for none.
func (s *standIn) rather(p *shot) string {
	if p.label == "" || p.by == "person" || p.label == s.predicted(p) {
		return ""
	}
	return s.predicted(p)
}

func (s *standIn) unknown(p *shot) bool { return p.label == "" && !slices.Contains(s.classes, p.truth) }

func (s *standIn) image(p *shot) map[string]any {
	text := func(v string) any {
		if v == "" {
			return nil
		}
		return v
	}
	return map[string]any{"id": p.id, "name": p.name, "folder": "", "changed": "2026-05-01T10:00:00Z",
		"label": text(p.label), "by": text(p.by), "rather": text(s.rather(p)),
		"labels":     append([]string{}, p.labels...),
		"prediction": s.prediction(p), "novelty": 1 - p.sure, "unknown": s.unknown(p), "group": nil, "settles": nil,
		"box": s.box(p), "event": nil, "copies": len(p.name) % 2 * (len(p.truth) % 3), "shot": map[string]any{
			"time": "2025-06-14T10:11:12+02:00", "camera": "HC600 <img src=x onerror=alert(1)>",
			"place": map[string]float64{"latitude": -33.8599722, "longitude": 151.21}}}
}

func (s *standIn) all(ps []*shot) []map[string]any {
	out := []map[string]any{}
	for _, p := range ps {
		out = append(out, s.image(p))
	}
	return out
}

func (s *standIn) images(w http.ResponseWriter, r *http.Request) {
	if held := s.held; held != nil {
		s.held = nil
		s.mu.Unlock()
		held <- struct{}{}
		held <- struct{}{}
		s.mu.Lock()
	}
	s.listed = r.URL.RawQuery
	view, group := r.FormValue("view"), r.FormValue("group")
	var found []*shot
	for _, p := range s.photos {
		class := cmp.Or(p.label, s.predicted(p))
		in := map[string]bool{
			"check": p.label == "" && !s.unknown(p) && p.by != "ignored" && p.by != "several", "start": p.label == "",
			"unknown":    s.unknown(p) && p.by == "",
			"suspicious": s.rather(p) != "",
			"class":      class == r.FormValue("class") && (p.label != "" || p.by == ""), "": true, "all": true,
		}[view]
		if group != "" {
			in = s.unknown(p) && s.groupID(p) == group
		}
		if of := r.FormValue("duplicates") + r.FormValue("event") + r.FormValue("beside"); of != "" {
			in = slices.Contains(s.moment(s.find(of)), p)
		}
		switch r.FormValue("state") {
		case "unusable":
			in = p.by == "ignored"
		case "unreadable":
			in = false
		}
		in = in && (r.FormValue("taken") == "" || p.random%3 == 0)
		in = in && (r.FormValue("events") == "" || !slices.Contains(s.moment(p)[1:], p))
		if in && strings.Contains(strings.ToLower(p.name), strings.ToLower(r.FormValue("q"))) {
			found = append(found, p)
		}
	}
	if view == "check" || view == "class" {
		later := func(p *shot) int { return strings.Count(p.by, "skipped") }
		slices.SortStableFunc(found, func(a, b *shot) int {
			return cmp.Or(later(a)-later(b), cmp.Compare(a.sure, b.sure))
		})
	}
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	from, _ := strconv.Atoi(r.FormValue("cursor"))
	to := min(len(found), from+limit)
	var next any
	if to < len(found) {
		next = strconv.Itoa(to)
	}
	images := s.all(found[min(from, to):to])
	for i, p := range found[min(from, to):to] {
		if r.FormValue("events") != "" {
			images[i]["event"] = s.event(p)
		}
	}
	answer(w,
		map[string]any{"images": images, "total": len(found), "next": next, "revision": s.seq,
			"untimed": strings.Count(r.FormValue("order"), "time")})
}

func (s *standIn) groupID(p *shot) string { return strconv.Itoa(1 + len(p.truth)) }

func (s *standIn) picture(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=3600")
	http.ServeFile(w, r, s.find(r.PathValue("id")).file)
}

func (s *standIn) similar(w http.ResponseWriter, r *http.Request) {
	truth, out := "fig", []map[string]any{}
	if id := r.PathValue("id"); id != "" {
		truth = s.find(id).truth
	}
	for _, same := range []bool{true, false} {
		for _, p := range s.photos {
			if (p.truth == truth) == same && len(out) < 40 &&
				(r.FormValue("decided") == "" || (p.label != "") == (r.FormValue("decided") == "true")) {
				similarity := 0.4
				if same {
					similarity = 0.9
				}
				out = append(out, map[string]any{"image": s.image(p), "similarity": similarity})
			}
		}
	}
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	answer(w, map[string]any{"images": out[:min(limit, len(out))]})
}

func (s *standIn) groups(w http.ResponseWriter, _ *http.Request) {
	members := map[string][]*shot{}
	for _, p := range s.photos {
		if s.unknown(p) && p.by == "" && len(s.classes) > 1 {
			members[s.groupID(p)] = append(members[s.groupID(p)], p)
		}
	}
	out := []map[string]any{}
	for id, m := range members {
		n, _ := strconv.Atoi(id)
		out = append(out, map[string]any{"id": n, "size": len(m), "called": s.called,
			"images": s.all(m[:min(12, len(m))])})
	}
	slices.SortFunc(out, func(a, b map[string]any) int {
		return cmp.Or(b["size"].(int)-a["size"].(int), a["id"].(int)-b["id"].(int))
	})
	answer(w, map[string]any{"groups": out, "revision": s.seq, "computing": false})
}

// chart puts the photos of a truth together, in a row of heaps, and in a column before they are
// arranged.
func (s *standIn) chart(w http.ResponseWriter, r *http.Request) {
	states := []string{"hidden", "open", "unknown", "person", "bulk", "folder", "ignored", "skipped", "several"}
	columns := map[string][]any{}
	heaps := map[string]int{}
	for i, p := range s.photos {
		if _, ok := heaps[p.truth]; !ok {
			heaps[p.truth] = len(heaps)
		}
		state := cmp.Or(p.by, map[bool]string{true: "unknown", false: "open"}[s.unknown(p)])
		if !strings.Contains(strings.ToLower(p.name), strings.ToLower(r.FormValue("q"))) {
			state = "hidden"
		}
		angle, away := float64(p.random), 400*math.Sqrt(float64(p.random%997)/997)
		for name, v := range map[string]any{
			"ids": p.id, "x": (500 + 1000*(heaps[p.truth]%10) + int(away*math.Cos(angle))) * (1 - s.places%2),
			"y":      500 + 1000*(heaps[p.truth]/10) + int(away*math.Sin(angle)),
			"class":  slices.Index(s.classes, cmp.Or(p.label, s.predicted(p))),
			"rather": slices.Index(s.classes, cmp.Or(s.rather(p), " ")), "state": slices.Index(states, state),
			"permille": int(1000 * p.sure), "taken": 1_750_000_000 + 1000*i} {
			columns[name] = append(columns[name], v)
		}
	}
	version := 8 + s.places
	out := map[string]any{"version": version, "revision": s.seq, "computing": s.places%2 > 0 && !s.stopped,
		"arranged": s.places%2 == 0, "stopped": s.stopped, "too_many": false, "classes": s.classes, "states": states}
	for name, column := range columns {
		out[name] = column
	}
	if r.FormValue("have") == strconv.Itoa(version) {
		out["ids"], out["x"], out["y"] = nil, nil, nil
	}
	answer(w, out)
}

func (s *standIn) listClasses(w http.ResponseWriter, _ *http.Request) {
	out := []map[string]any{}
	for _, name := range s.classes {
		labelled, predicted := 0, 0
		for _, p := range s.photos {
			if p.label == name {
				labelled++
			} else if p.label == "" && s.predicted(p) == name {
				predicted++
			}
		}
		out = append(out,
			map[string]any{"name": name, "learned": 5, "labelled": labelled, "accepted": 0, "listed": 0,
				"predicted": predicted})
	}
	answer(w, map[string]any{"classes": out, "revision": s.seq})
}

func (s *standIn) outlook(above, class string) map[string]any {
	least, _ := strconv.ParseFloat(above, 64)
	n := len(s.offered(least, class))
	checked := 0
	for _, p := range s.drawn {
		if p.label != "" {
			checked++
		}
	}
	return map[string]any{"images": n, "precision": 0.97, "expected_wrong": 0.03 * float64(n), "low": 0.2,
		"high": 0.4 * float64(n), "checked": map[string]any{"n": checked, "correct": checked},
		"drawn": len(s.drawn) - checked}
}

// offered returns the photos that accepting would label.
func (s *standIn) offered(least float64, class string) (out []*shot) {
	for _, p := range s.photos {
		if p.label == "" && !s.unknown(p) && p.sure >= least && (class == "" || s.predicted(p) == class) {
			out = append(out, p)
		}
	}
	return out
}

// check draws the first ones.
func (s *standIn) check(w http.ResponseWriter, r *http.Request) {
	var d struct {
		Above float64
		Class string
		N     int
	}
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.drawn = s.offered(d.Above, d.Class)
	s.drawn = s.drawn[:min(d.N, len(s.drawn))]
	answer(w, map[string]any{"images": s.all(s.drawn), "status": s.status()})
}

func (s *standIn) labelled(by string) (n int) {
	for _, p := range s.photos {
		if p.by == by {
			n++
		}
	}
	return n
}

func (s *standIn) status() map[string]any {
	s.statuses++
	last := func(steps []snapshot) any {
		if len(steps) == 0 {
			return nil
		}
		return steps[len(steps)-1].text
	}
	var arranging any
	if s.places%2 > 0 && !s.stopped {
		arranging = 0.4
	}
	return map[string]any{
		"arranging": arranging, "events": s.boxed,
		"number": s.statuses, "revision": s.seq, "seq": s.seq, "title": "demo: photos", "start": nil,
		"problem": s.problem,
		"classes": len(s.classes), "undo": last(s.undo), "redo": last(s.redo),
		"model": map[string]any{"name": "demo.model", "method": "plda", "ready": len(s.classes) > 1,
			"unsaved": len(s.undo), "saving": false, "instant": true},
		"images":  map[string]any{"found": len(s.photos), "embedded": len(s.photos), "failed": 0, "scanning": false},
		"boxes":   s.boxes(),
		"account": s.account(), "no_threshold": false,
		"brief": s.found,
		"told": append([]string{fmt.Sprintf("%d decided one by one, %d accepted in bulk", s.labelled("person"),
			s.labelled("bulk"))}, s.found...),
		"words": true,
		"refit": map[string]any{"running": false, "seq": 0, "seconds": 0.4},
	}
}

func (s *standIn) account() map[string]any {
	return map[string]any{
		"photos": len(s.photos), "failed": len(s.damaged), "copies": 0, "waiting": 0, "model": 77, "unknown": 0,
		"decided": map[string]any{"person": s.labelled("person"), "bulk": s.labelled("bulk"), "list": 0,
			"detector": 0},
		"set_aside": map[string]any{"unusable": s.labelled("ignored"), "several": 0, "later": 0},
		"expected":  map[string]any{"accuracy": 0.81, "low": 0.7, "high": 0.92, "of_all": nil, "rests_on": "80 photos"},
		"measured":  nil, "wrong_labels": s.wrong, "classes": s.taken(), "next": s.advice(),
	}
}

// taken says that the first class is taken for the second one.
func (s *standIn) taken() []map[string]any {
	if len(s.classes) < 2 {
		return []map[string]any{}
	}
	return []map[string]any{{"class": s.classes[0], "decided": 0, "labelled": 0, "expected": nil,
		"taken_for": s.classes[1], "times": 2, "of": 9}}
}

func (s *standIn) unreadable(w http.ResponseWriter, _ *http.Request) {
	files := []map[string]any{}
	for _, name := range s.damaged {
		files = append(files, map[string]any{"path": name, "reason": "unexpected EOF"})
	}
	answer(w, map[string]any{"files": files, "total": len(files)})
}

func (s *standIn) advice() map[string]any {
	switch s.advised[0] {
	case "":
		return map[string]any{"do": "check", "class": nil, "text": "Check the least certain photos."}
	case "unknown":
		return map[string]any{"do": "unknown", "class": nil,
			"text": "30 photos look like none of the classes: name their groups."}
	}
	return map[string]any{"do": s.advised[0], "class": s.advised[1], "text": "Name more."}
}

// advises sets the advice and tells the pages.
func (s *standIn) advises(what, class string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advised = [2]string{what, class}
	close(s.news)
	s.news = make(chan struct{})
}

func (s *standIn) state(text string) snapshot {
	out := snapshot{text, slices.Clone(s.classes), map[string][2]string{}}
	for _, p := range s.photos {
		out.labels[p.id] = [2]string{p.label, p.by}
	}
	return out
}

func (s *standIn) restore(to snapshot) {
	s.classes = to.classes
	for _, p := range s.photos {
		p.label, p.by = to.labels[p.id][0], to.labels[p.id][1]
	}
}

func (s *standIn) change(w http.ResponseWriter, r *http.Request) {
	var d struct {
		Do, Class, To, Kept string
		Images, Labels      []string
		Above               float64
		Seq                 int
	}
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil && r.Header.Get("Content-Type") != "" {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.within, s.kept = r.URL.RawQuery, d.Kept
	if gate := s.gate; gate != nil {
		s.mu.Unlock()
		<-gate
		s.mu.Lock()
	}
	what := cmp.Or(d.Do, strings.TrimPrefix(r.URL.Path, "/v1/"))
	named := d.Class + strings.Join(d.Labels, "+")
	if slices.ContainsFunc(d.Images, func(id string) bool { return slices.Contains(s.refused, id) }) {
		w.WriteHeader(http.StatusConflict)
		answer(w, map[string]any{"error": "the photo is gone"})
		return
	}
	s.decided = append(s.decided, strings.Join(append([]string{what, named}, d.Images...), " "))
	text := strings.TrimSpace(fmt.Sprintf("%s %d %s %s", what, len(d.Images), named, d.To))
	switch what {
	case "undo":
		to := s.undo[len(s.undo)-1]
		s.undo, s.redo = s.undo[:len(s.undo)-1], append(s.redo, s.state(to.text))
		s.restore(to)
	case "redo":
		to := s.redo[len(s.redo)-1]
		s.redo, s.undo = s.redo[:len(s.redo)-1], append(s.undo, s.state(to.text))
		s.restore(to)
	case "save":
		if s.problem != nil {
			w.WriteHeader(http.StatusInternalServerError)
			answer(w, map[string]any{"error": s.problem})
			return
		}
		s.undo = nil
	case "back":
		text = fmt.Sprintf("back to %d", d.Seq)
		s.undo, s.redo = append(s.undo, s.state(text)), nil
	default:
		s.undo, s.redo = append(s.undo, s.state(text)), nil
		s.decide(what, d.Class, d.To, d.Images, d.Above)
		for _, p := range s.photos {
			if what == "several" && slices.Contains(d.Images, p.id) {
				p.label, p.by, p.labels = "", what, d.Labels
			}
		}
	}
	s.seq++
	s.requests = append(s.requests, text)
	close(s.news)
	s.news = make(chan struct{})
	made := map[string]any{"step": map[string]any{"text": text, "seq": s.seq}, "status": s.status()}
	if delayed := s.delayed; delayed != nil {
		s.delayed = nil
		s.mu.Unlock()
		delayed <- struct{}{}
		s.mu.Lock()
	}
	answer(w, made)
}

// points are made up: somebody decided five times and saved; and the page what came
// since.
func (s *standIn) points(w http.ResponseWriter, _ *http.Request) {
	point := func(seq, decisions int, saved bool, classes ...string) map[string]any {
		return map[string]any{"seq": seq, "time": "2026-05-01T10:00:00Z", "saved": saved, "decisions": decisions,
			"labels": seq - 1, "new": append([]string{}, classes...), "gone": []string{}}
	}
	out := []map[string]any{point(7, 5, true, s.classes[:2]...)}
	if s.seq > 0 {
		out = append(out, point(7+s.seq, s.seq, false))
	}
	answer(w, map[string]any{"points": out})
}

func (s *standIn) history(w http.ResponseWriter, r *http.Request) {
	before, _ := strconv.Atoi(r.FormValue("before"))
	out := []map[string]any{}
	for seq := before - 1; seq > 1; seq-- {
		step := map[string]any{"seq": seq, "do": "label", "undone": seq == 4, "text": "label a photo " +
			s.classes[seq%2]}
		if seq == 7 {
			step["do"] = "save"
		}
		out = append(out, step)
	}
	answer(w, map[string]any{"history": out})
}

func (s *standIn) forget(w http.ResponseWriter, r *http.Request) {
	var body struct{ Images []string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.decide("unlabel", "", "", body.Images, 0)
	s.seq++
	s.requests = append(s.requests, fmt.Sprintf("forget %d", len(body.Images)))
	answer(w, map[string]any{"removed": len(body.Images), "left": []string{"the files themselves", "copies elsewhere"},
		"status": s.status()})
}

func (s *standIn) decide(what, class, to string, ids []string, above float64) {
	for _, p := range s.photos {
		acceptable := p.label == "" && !s.unknown(p) && p.sure >= above && (class == "" || s.predicted(p) == class)
		switch {
		case what == "label" && slices.Contains(ids, p.id):
			p.label, p.by = class, "person"
		case (what == "ignore" || what == "skip") && slices.Contains(ids, p.id):
			p.label, p.by = "", map[string]string{"ignore": "ignored", "skip": "skipped"}[what]
		case what == "unlabel" && slices.Contains(ids, p.id):
			p.label, p.by = "", ""
		case (what == "merge" || what == "rename") && p.label == class:
			p.label = to
		case what == "accept" && acceptable:
			p.label, p.by = s.predicted(p), "bulk"
		}
	}
	switch at := slices.Index(s.classes, cmp.Or(class, " ")); {
	case what == "label" && at < 0:
		s.classes = append(s.classes, class)
	case what == "rename":
		s.classes[at] = to
	case what == "merge":
		s.classes = slices.Delete(slices.Clone(s.classes), at, at+1)
	}
}

func (s *standIn) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "retry: 20\n\n") // milliseconds; a page asks again after three seconds otherwise
	for {
		data, err := json.Marshal(s.status())
		if err != nil {
			return
		}
		fmt.Fprintf(w, "event: change\ndata: %s\n\n", data)
		w.(http.Flusher).Flush()
		news := s.news
		s.mu.Unlock()
		select {
		case <-news:
		case <-r.Context().Done():
		}
		s.mu.Lock()
		if r.Context().Err() != nil || s.gone {
			s.gone = false
			return
		}
	}
}

// reorders turns the order of the photos round, as a new model may, and returns a channel
// on which the page's question for them is announced, and which it waits for then.
func (s *standIn) reorders() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.photos {
		p.sure = 1.3 - p.sure
	}
	s.seq++
	s.held = make(chan struct{})
	close(s.news)
	s.news = make(chan struct{})
	return s.held
}

// holds returns a channel on which the page's next question for photos is announced, and
// which it waits for then.
func (s *standIn) holds() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = make(chan struct{})
	return s.held
}

// answersLate makes the next change known to the pages before it is answered. The answer
// is sent when a value is taken from the channel.
func (s *standIn) answersLate() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delayed = make(chan struct{})
	return s.delayed
}

// waits makes every change wait until release is called.
func (s *standIn) waits() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate, s.decided = make(chan struct{}), nil
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(s.gate)
		s.gate = nil
	}
}

// takeDecided returns what was decided since waits was called.
func (s *standIn) takeDecided() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.decided
}

// restarts ends the connection for events and begins with no decision and revision 0.
func (s *standIn) restarts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restore(s.undo[0])
	s.undo, s.redo, s.seq, s.statuses, s.gone = nil, nil, 0, 0, true
	close(s.news)
	s.news = make(chan struct{})
}

// has sets a problem, nil for none, and tells the pages.
func (s *standIn) has(problem any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = problem
	close(s.news)
	s.news = make(chan struct{})
}

// changed returns the changes that the page asked for since the last call.
func (s *standIn) changed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(file, data, 0o644))
}
