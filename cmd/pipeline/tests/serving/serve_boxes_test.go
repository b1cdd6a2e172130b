package serving

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
)

// into decodes the answer to a request into v, and returns its code.
func (s *served) into(method, path, body string, v any) int {
	s.Helper()
	code, text := s.ask(method, path, body)
	if err := json.Unmarshal([]byte(text), v); err != nil {
		s.Fatalf("%s: %d, %v: %s", path, code, err, text)
	}
	return code
}

// ids returns the ids of what the server shows, by their names.
func (s *served) ids(query string) map[string]string {
	s.Helper()
	var list struct {
		Images []struct{ ID, Name string }
	}
	s.into("GET", "/v1/images?limit=500"+query, "", &list)
	ids := map[string]string{}
	for _, one := range list.Images {
		ids[one.Name] = one.ID
	}
	return ids
}

// exports returns columns of all rows of the server's labels.csv, by path.
func (s *served) exports(columns ...string) map[string]string {
	s.Helper()
	_, text := s.ask("GET", "/v1/labels.csv?all=1", "")
	rows := must.Get(csv.NewReader(strings.NewReader(text)).ReadAll())(s)
	return keyed(s.TB, rows, columns...)
}

func keyed(t testing.TB, rows [][]string, columns ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, row := range rows[1:] {
		var cells []string
		for _, name := range columns {
			at := slices.Index(rows[0], name)
			if at < 0 {
				t.Fatalf("there is no column %s in %v", name, rows[0])
			}
			cells = append(cells, row[at])
		}
		out[row[0]] = strings.Join(cells, " | ")
	}
	return out
}

// sizeOf returns the width and the height of a JPEG picture.
func sizeOf(t testing.TB, picture string) (w, h int) {
	t.Helper()
	c := must.Get(jpeg.DecodeConfig(strings.NewReader(picture)))(t)
	return c.Width, c.Height
}

// TestServeBoxes: what a person decides about boxes is in the rows of label --boxes, and what
// learn --boxes is told, on the page; persons of the detector are shown, and never learned.
func TestServeBoxes(t *testing.T) {
	l := commandtest.New(t)
	l.Boxed(l.Path("learn"), 0)
	l.Boxed(l.Path("look"), 50)
	model, look, md := l.Path("m.model"), l.Path("look"), l.Path("look", "md.json")
	l.Must("train", "--images", l.Path("learn"), "--boxes", l.Path("learn", "coco.json"), "--classifier", "plda",
		"--out", model)
	args := []string{model, "--images", look, "--boxes", md}
	s := serve(l, 13, args...)
	for _, words := range []string{"gone.png", "instead of whole photos"} {
		if !strings.Contains(s.stderr.String(), words) {
			t.Errorf("nothing about %s: %s", words, s.stderr)
		}
	}
	ids := s.ids("")
	var status struct {
		Account struct{ Decided struct{ Detector int } }
		Boxes   struct{ Photos, Boxes, Empty, Unlisted int }
	}
	s.into("GET", "/v1/status", "", &status)
	if got := fmt.Sprint(status); got != "{{{1}} {8 14 1 0}}" || len(ids) != 13 {
		t.Errorf("the status is %s, of %d boxes", got, len(ids))
	}
	beside := s.ids("&beside=" + ids["2.png#1"])
	if len(beside) != 4 || beside["2.png#4"] == "" {
		t.Errorf("on the photo are %v", beside)
	}
	for _, view := range []string{"check", "unknown", "start", "suspicious"} {
		if s.ids("&view=" + view)["2.png#4"] != "" {
			t.Errorf("%s asks about the detector's person", view)
		}
	}
	if of := s.ids("&view=class&class=person"); len(of) != 1 {
		t.Errorf("of the class person are %v", of)
	}
	if code, text := s.ask("POST", "/v1/decisions", fmt.Sprintf(`{"do":"label","class":"person","images":[%q]}`,
		ids["2.png#4"])); code != 409 || !strings.Contains(text, "not learned") {
		t.Errorf("the detector's person as a class: %d %s", code, text)
	}
	s.decide(ids["4.png#1"], "owl")
	s.decide(ids["1.png#2"], "owl")
	s.ask("POST", "/v1/decisions", fmt.Sprintf(`{"do":"ignore","images":[%q]}`, ids["0.png#1"]))
	if code, text := s.ask("POST", "/v1/accept", `{"above":0.6}`); code != 200 {
		t.Errorf("accept many: %d %s", code, text)
	}
	_, thumb := s.ask("GET", "/v1/images/"+ids["2.png#2"]+"/thumb", "")
	_, photo := s.ask("GET", "/v1/images/"+ids["2.png#2"]+"/photo", "")
	if w, h := sizeOf(t, thumb); w != h || w > commandtest.SmallSide {
		t.Errorf("the tile of a box has %d×%d pixels", w, h)
	}
	if w, h := sizeOf(t, photo); w != 3*h {
		t.Errorf("the photo of a box has %d×%d pixels", w, h)
	}
	here := s.exports("label", "by", "box")
	s.ends()

	l.Expect(3, "label", model, "--images", look, "--boxes", md, "--out", l.Path("labels"))
	there := keyed(t, l.Table(l.Path("labels", "labels.csv")), "label", "by", "box")
	if fmt.Sprint(here) != fmt.Sprint(there) || here["4.png#1"][:12] != "owl | person" ||
		!strings.Contains(fmt.Sprint(here), "| bulk |") {
		t.Errorf("the page exports\n%v, and label writes\n%v", here, there)
	}
	l.Write(l.Path("list.csv"), []byte("path,label\n3.png#1,newt\n"))
	l.Must("learn", model, "--images", look, "--boxes", md, "--list", l.Path("list.csv"), "--prefer", "list")
	s = serve(l, 13, args...)
	if got := s.exports("label", "by")["3.png#1"]; got != "newt | list" {
		t.Errorf("what was learned from a list is %q on the page", got)
	}
	s.ends()
}

// TestServeEvents: a tile stands for an event, with the probability that label --events gives
// it; it is decided and taken back at once, and a box in it by itself.
func TestServeEvents(t *testing.T) {
	l := commandtest.New(t)
	l.Boxed(l.Path("learn"), 0)
	truth := l.Boxed(l.Path("look"), 50)
	model, look := l.Path("m.model"), l.Path("look")
	l.Must("train", "--images", l.Path("learn"), "--boxes", l.Path("learn", "coco.json"), "--classifier", "plda",
		"--out", model)
	for minute, files := range [][]string{{"0.png", "3.png"}, {"1.png"}, {"2.png"}, {"4.png", "5.png"}, {"empty.png"}} {
		for _, file := range files {
			at := time.Date(2025, 6, 14, 10, 10*minute, 0, 0, time.UTC)
			must.Do(t, os.Chtimes(filepath.Join(look, file), at, at))
		}
	}
	args := []string{model, "--images", look, "--boxes", l.Path("look", "md.json"), "--events", "60", "--set",
		"label.file_times=true"}
	l.Expect(3, slices.Concat([]string{"label", "--adapt=false"}, args, []string{"--out", l.Path("labels")})...)
	rows := l.Table(l.Path("labels", "labels.csv"))
	labelled := keyed(t, rows, "event_label", "event_probability")

	s := serve(l, 13, args...)
	s.wait(func(now servedStatus) bool { return now.Images.Seen == 13 && now.Model.Ready && !now.Refit.Running })
	var list struct {
		Total  int
		Images []struct {
			Name       string
			Prediction []struct {
				Class       string
				Probability float64
			}
			Event *struct {
				Size    int
				Classes []string
			}
		}
	}
	s.into("GET", "/v1/images?view=check&events=true", "", &list)
	if list.Total != 4 {
		t.Errorf("%d tiles of four events", list.Total)
	}
	compared := 0
	for _, one := range list.Images {
		if one.Event == nil || len(one.Event.Classes) > 1 {
			continue
		}
		compared++
		event, probability, _ := strings.Cut(labelled[one.Name], " | ")
		want, err := strconv.ParseFloat(probability, 64)
		if best := one.Prediction[0]; err != nil || best.Class != event || math.Abs(best.Probability-want) > 1e-4 {
			t.Errorf("%s: the tile says %+v, label --events %s %v", one.Name, best, event, probability)
		}
	}
	if compared == 0 {
		t.Errorf("no event is of one class: %+v", list.Images)
	}

	p := s.sit(truth)
	tile := "Array.from(document.querySelectorAll('.tile')).find((t) => t.photo.name === '0.png#1')"
	p.page.Wait(tile)
	if badge := evaluate[string](p.page, tile+".querySelector('.badge').textContent"); badge != "2 boxes" {
		t.Errorf("the tile stands for %q", badge)
	}
	p.page.Eval(tile+".click()", nil)
	if said := p.press("Enter"); said != "label 2 photos kiwi" {
		t.Errorf("accepting an event says %q", said)
	}
	if got := s.exports("label", "by"); got["0.png#1"] != "kiwi | person" || got["3.png#1"] != "kiwi | person" {
		t.Errorf("after accepting an event %v", got)
	}
	if said := p.press("Control+z"); said != "Undone: label 2 photos kiwi" {
		t.Errorf("undo says %q", said)
	}
	p.settles()
	p.page.Wait(tile)
	p.page.Eval(tile+".click()", nil)
	p.page.Press("Alt+Enter")
	p.page.Wait("document.getElementById('heading').textContent === 'An event' && " +
		"document.querySelectorAll('.tile').length === 2 && document.activeElement.id === 'grid'")
	p.page.Press("Alt+Enter")
	p.page.Wait("document.querySelectorAll('#photo-boxes rect.marked').length === 1")
	if alt := evaluate[string](p.page, "document.getElementById('photo-picture').alt"); alt != "0.png#1: kiwi" {
		t.Errorf("the photo is %q", alt)
	}
	p.page.Press("Escape")
	p.name("owl")
	if got := s.exports("label", "by"); got["0.png#1"] != "owl | person" || got["3.png#1"] != "kiwi | " {
		t.Errorf("after naming one box of an event %v", got)
	}
	s.ends()
}

func evaluate[T any](p *testenv.Page, expression string) (out T) {
	p.Eval(expression, &out)
	return out
}
