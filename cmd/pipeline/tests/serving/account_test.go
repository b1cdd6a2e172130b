package serving

import (
	"encoding/json"
	"fmt"
	"html"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// TestOneAccount walks one project, with photos that were decided, set aside, drawn at random and accepted, a copy
// and a file that is none, through all that tells of it: every number is the same.
func TestOneAccount(t *testing.T) {
	l := commandtest.New(t)
	photos, model := l.Path("photos"), l.Path("m.model")
	truth := drawn(l, photos, 40, "kiwi", "lime", "plum", "fig")
	l.Write(photos+"/copy.jpg", l.Read(photos, "kiwi-003.jpg"))
	l.Write(photos+"/no photo.jpg", []byte("none"))
	s := serve(l, len(truth), model, "--images", photos)
	s.post("decisions", map[string]any{"do": "ignore", "images": s.open(truth, "fig")[:2]})
	s.post("decisions", map[string]any{"do": "skip", "images": s.open(truth, "fig")[:1]})
	s.post("decisions", map[string]any{"do": "several", "images": s.open(truth, "fig")[:1],
		"labels": []string{"a", "b"}})
	for _, class := range []string{"kiwi", "lime", "plum"} {
		for _, id := range s.open(truth, class)[:12] {
			s.post("decisions", map[string]any{"do": "label", "images": []string{id}, "class": class})
		}
	}
	s.wait(func(st servedStatus) bool { return st.Model.Ready && !st.Refit.Running })
	var drawn struct{ Images []struct{ ID, Name string } }
	must.Do(t, json.Unmarshal([]byte(s.post("check", map[string]any{"above": 0, "n": 5})), &drawn))
	for _, one := range drawn.Images[:4] {
		s.post("decisions", map[string]any{"do": "label", "images": []string{one.ID}, "class": truth[one.Name]})
	}
	s.post("accept", map[string]any{"above": 0.5, "class": "kiwi"})
	s.post("save", nil)
	s.wait(func(st servedStatus) bool { return !st.Refit.Running })
	page := s.account()
	for page.Failed == 0 { // a file that was written a moment ago may not be whole
		s.post("look", map[string]any{})
		page = s.account()
	}
	if n := len(truth) + 2; page.Photos != n || page.Decided.Person != 40 || page.Copies != 1 || page.Failed != 1 ||
		page.SetAside != (account.SetAside{Unusable: 2, Several: 1, Later: 1}) || page.Model == 0 ||
		page.Decided.Bulk == 0 {
		t.Errorf("the page counts %+v of %d files", page, n)
	}
	if m := page.Measured; m == nil || m.N != 4 || m.Low > 0.5 {
		t.Errorf("four were checked, and the page measures %+v", m)
	}
	if e := page.Expected; e == nil || e.Accuracy == nil || *e.Accuracy > 0.99 {
		t.Errorf("nobody checked twenty, and the page expects %+v", e)
	}

	const reject = "--reject=0.05" // the share that the page calls unknown
	out := l.Path("out")
	said := l.Expect(3, "label", model, "--images", photos, "--out", out, reject, "--report")
	var summary struct{ Account account.Account }
	must.Do(t, json.Unmarshal(l.Read(out, "summary.json"), &summary))
	labelled := summary.Account
	same(t, "label", page, labelled)
	report := html.UnescapeString(string(l.Read(out, "report.html")))
	for _, line := range labelled.Lines() {
		if !strings.Contains(said.Stderr+said.Stdout, line) || !strings.Contains(report, line) {
			t.Errorf("label or its report does not say %q", line)
		}
	}
	_, metrics := s.ask("GET", "/metrics", "")
	for name, value := range map[string]float64{
		"labels_person": 40, "labels_bulk": float64(page.Decided.Bulk), "photos_failed": 1,
		"labels_model": float64(page.Model - page.Unknown), "photos_unknown": float64(page.Unknown),
	} {
		if line := fmt.Sprintf("\npipeline_%s %v\n", name, value); !strings.Contains(metrics, line) {
			t.Errorf("/metrics does not have %q", line)
		}
	}
	rank := []string{"rank", model, "--images", photos, "--out", l.Path("look.csv")}
	for _, command := range [][]string{{"inspect", model}, rank} {
		var told struct{ Account account.Account }
		run := l.Run(append(command, "--json")...)
		if err := json.Unmarshal([]byte(run.Stdout), &told); err != nil {
			t.Fatalf("%s: %v: %s", command[0], err, run.Stderr)
		}
		if a := told.Account; a.Decided != page.Decided || a.SetAside != page.SetAside ||
			!reflect.DeepEqual(a.Measured, page.Measured) {
			t.Errorf("%s says %+v, the page %+v", command[0], a, page)
		}
	}
}

// same compares two accounts of the same photos, which models made that differ by rounding.
func same(t *testing.T, what string, want, got account.Account) {
	t.Helper()
	near := func(a, b *float64) bool { return (a == nil) == (b == nil) && (a == nil || math.Abs(*a-*b) < 1e-3) }
	w, g := want.Expected, got.Expected
	if !near(w.Accuracy, g.Accuracy) || !near(w.Low, g.Low) || !near(w.High, g.High) || !near(w.OfAll, g.OfAll) ||
		w.RestsOn != g.RestsOn {
		t.Errorf("%s expects %+v, the page %+v", what, g, w)
	}
	if len(want.Classes) != len(got.Classes) {
		t.Fatalf("%s knows %d classes, the page %d", what, len(got.Classes), len(want.Classes))
	}
	for i, c := range want.Classes {
		other := got.Classes[i]
		if !near(c.Expected, other.Expected) {
			t.Errorf("%s: of %s %v are right, on the page %v", what, c.Class, *other.Expected, *c.Expected)
		}
		if c.Expected, other.Expected = nil, nil; !reflect.DeepEqual(c, other) {
			t.Errorf("%s says %+v, the page %+v", what, other, c)
		}
	}
	want.Expected, want.Classes, got.Expected, got.Classes = nil, nil, nil, nil
	want.Wrong = nil // label does not look for wrong labels, and says nothing of them
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s counts %+v, the page %+v", what, got, want)
	}
}

// account returns what /v1/status says.
func (s *served) account() account.Account {
	s.Helper()
	var status struct{ Account account.Account }
	if _, body := s.ask("GET", "/v1/status", ""); json.Unmarshal([]byte(body), &status) != nil {
		s.Fatalf("the status is %s", body)
	}
	return status.Account
}

// post sends a request that must succeed, and returns the answer.
func (s *served) post(route string, body any) string {
	s.Helper()
	text := must.Get(json.Marshal(body))(s)
	code, answer := s.ask("POST", "/v1/"+route, string(text))
	if code/100 != 2 {
		s.Fatalf("%s %s: %d %s", route, text, code, answer)
	}
	return answer
}
