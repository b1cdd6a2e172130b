package serving

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
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
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		s.Fatal(err)
	}
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
func sizeOf(t *testing.T, picture string) (w, h int) {
	t.Helper()
	c, err := jpeg.DecodeConfig(strings.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
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
		Labels struct{ Detector int }
		Boxes  struct{ Photos, Boxes, Empty, Unlisted int }
	}
	s.into("GET", "/v1/status", "", &status)
	if got := fmt.Sprint(status); got != "{{1} {8 14 1 0}}" || len(ids) != 13 {
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
	if code, text := s.ask("POST", "/v1/accept", `{"above":0.9}`); code != 200 {
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
