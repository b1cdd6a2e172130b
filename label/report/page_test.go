package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label/metrics"
)

// samplePage returns a page with everything: two base classes, a new one,
// pictures that are right, wrong, uncertain, rejected, and of an unknown class.
func samplePage() Page {
	third, full, none := 2.0/3, 1.0, 0.0
	auroc := 0.9
	e := &metrics.Report{
		N: 6, Accuracy: 0.5, ECE: 0.1, NoveltyAUROC: &auroc, Classes: []string{"cat", "dog", "emu"},
		Confusion: [][]int{{2, 1, 0}, {0, 1, 0}, {1, 1, 0}},
		PerClass: []metrics.Class{{Name: "cat", N: 3, Accuracy: &third}, {Name: "dog", N: 1, Accuracy: &full},
			{Name: "emu", N: 2, Accuracy: &none}},
	}
	e.Reliability[14] = metrics.Bin{N: 4, Confidence: 1, Accuracy: 0.5}
	e.Reliability[7] = metrics.Bin{N: 1, Confidence: 0.5, Accuracy: 1}
	return Page{
		Title: "Animals", Subtitle: "a test", Evaluation: e,
		Summary: Summary{Labelled: 5, Elapsed: 2 * time.Second, Backbone: "tiny", Method: "ncm",
			Sessions: []Session{{2, 40}, {1, 5}}},
		Classes: []Class{{Name: "cat"}, {Name: "dog"}, {Name: "emu", New: true}},
		Predictions: []Prediction{
			sample("a.jpg", "cat", "cat", 0.9, false), sample("b.jpg", "cat", "dog", 0.95, false),
			sample("c.jpg", "dog", "emu", 0.5, false), sample("d.jpg", "dog", "unicorn", 0.4, true),
			sample("e.jpg", "cat", "cat", 0.3, true),
		},
		Errors:   []Failure{{"broken.jpg", "truncated"}},
		Skipped:  []Skip{{"video", 2}},
		Settings: []Setting{{"Seed", "1"}},
		Notes:    []string{"For trying out."},
	}
}

func sample(path, predicted, truth string, p float64, rejected bool) Prediction {
	return Prediction{
		Path: path, Thumbnail: []byte("jpeg " + path), Predicted: predicted, Truth: truth, Probability: p,
		Margin: 2*p - 0.9, EntropyNats: 0.3, Novelty: 1 - p, Rejected: rejected,
		TopK: []classifier.Ranked{{Label: predicted, Probability: p}, {Label: "emu", Probability: 0.9 - p},
			{Label: "dog", Probability: 0.00001}},
	}
}

func render(t testing.TB, p Page) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, Write(&b, p))
	return b.String()
}

// element is a start tag with the text directly after it.
type element struct {
	name  string
	attrs map[string]string
	text  string
}

// parse reads the page as strict XML, which our HTML also is; it fails if
// anything escaped its context.
func parse(t testing.TB, page string) []element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	var out []element
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("page is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			out = append(out, e)
		case xml.CharData:
			if len(out) > 0 {
				out[len(out)-1].text += string(token)
			}
		}
	}
}

func named(all []element, name string) []element {
	var out []element
	for _, e := range all {
		if e.name == name {
			out = append(out, e)
		}
	}
	return out
}

func cards(all []element) []element {
	var out []element
	for _, e := range named(all, "li") {
		if strings.HasPrefix(e.attrs["class"], "card") {
			out = append(out, e)
		}
	}
	return out
}

func TestOrderAndStateOfCards(t *testing.T) {
	var got []string
	for _, c := range cards(parse(t, render(t, samplePage()))) {
		got = append(got, c.attrs["data-path"]+" "+strings.TrimSpace(c.attrs["data-state"]))
	}
	want := []string{"e.jpg wrong rejected", "d.jpg right rejected", "c.jpg wrong uncertain", "b.jpg wrong",
		"a.jpg right"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("cards\n%q\nwant\n%q", got, want)
	}
}

// A rejected picture shows how unfamiliar it is, not the probability of a class
// that it probably does not have.
func TestRejectedCardsShowNovelty(t *testing.T) {
	page := samplePage()
	html := render(t, page)
	for _, p := range page.Predictions {
		from := strings.Index(html, `data-path="`+p.Path+`"`)
		text := html[from : from+strings.Index(html[from:], "</li>")]
		if p.Rejected == strings.Contains(text, "margin ") {
			t.Errorf("%s, rejected %t: %s", p.Path, p.Rejected, text)
		}
		text = text[strings.Index(text, "</div>"):] // after the picture
		if p.Rejected != strings.Contains(text, "novelty "+figure(p.Novelty)) ||
			p.Rejected == strings.Contains(text, percent(p.Probability)) {
			t.Errorf("%s, rejected %t: %s", p.Path, p.Rejected, text)
		}
	}
}

func TestSections(t *testing.T) {
	all := parse(t, render(t, samplePage()))
	ids := map[string]int{}
	for _, e := range all {
		if id := e.attrs["id"]; id != "" {
			ids[id]++
		}
	}
	for _, id := range []string{"pictures", "rejected", "uncertain", "class-1", "classes", "confusion", "calibration",
		"problems", "how"} {
		if ids[id] != 1 {
			t.Errorf("id %q occurs %d times", id, ids[id])
		}
	}
	for _, a := range named(all, "a") {
		if ids[strings.TrimPrefix(a.attrs["href"], "#")] != 1 {
			t.Errorf("link to %q leads nowhere", a.attrs["href"])
		}
	}
	for _, img := range named(all, "img") {
		if img.attrs["alt"] == "" || !strings.HasPrefix(img.attrs["src"], "data:image/jpeg;base64,") {
			t.Errorf("bad img %v", img.attrs)
		}
	}
	checkHeadingLevels(t, all)
}

func checkHeadingLevels(t *testing.T, all []element) {
	last := byte('0')
	for _, e := range all {
		if len(e.name) == 2 && e.name[0] == 'h' && e.name[1] >= '1' && e.name[1] <= '6' {
			if e.name[1] > last+1 {
				t.Errorf("heading level jumps from h%c to %s", last, e.name)
			}
			last = e.name[1]
		}
	}
}

func TestTexts(t *testing.T) {
	page := render(t, samplePage())
	for _, want := range []string{
		"<strong>50.0%</strong> <span>accuracy</span>", "on 6 images of known classes, ignoring rejection",
		"<strong>75.0%</strong> <span>on base classes</span>", "<strong>0.0%</strong> <span>on new classes</span>",
		"in 2s, 2.5 per second", "2 classes from 40 images, then 1 class from 5 images", "3, 1 of them new",
		"then <bdi>emu</bdi> 40.0%", "truncated", "2 <bdi>video</bdi>", "For trying out.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	if strings.Contains(page, "<bdi>dog</bdi> 0.0%") {
		t.Error("a class of no probability is named")
	}
}

func TestNothingIsFetched(t *testing.T) {
	page := render(t, samplePage())
	for _, bad := range []string{"http:", "https:", "//www", "@import", "url(", "<link", "<base"} {
		if strings.Contains(page, bad) {
			t.Errorf("page contains %q", bad)
		}
	}
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindStringSubmatch(page)
	hash := sha256.Sum256([]byte(script[1]))
	policy := ""
	for _, m := range named(parse(t, page), "meta") {
		if m.attrs["http-equiv"] == "Content-Security-Policy" {
			policy = m.attrs["content"]
		}
	}
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'"; !strings.Contains(policy, want) {
		t.Errorf("policy %q does not allow the page's own script, %s", policy, want)
	}
}

func TestEmptyAndSmallPages(t *testing.T) {
	one := 1.0
	single := &metrics.Report{N: 1, Accuracy: 1, Classes: []string{"only"}, Confusion: [][]int{{1}},
		PerClass: []metrics.Class{{Name: "only", N: 1, Accuracy: &one}}}
	for name, p := range map[string]Page{
		"zero": {},
		"one class": {Classes: []Class{{Name: "only"}}, Evaluation: single,
			Predictions: []Prediction{sample("a", "only", "only", 1, false)}},
		"absent class": {Evaluation: &metrics.Report{Classes: []string{"x"}, Confusion: [][]int{{0}},
			PerClass: []metrics.Class{{Name: "x"}}}},
		"no thumbnail": {Predictions: []Prediction{{Path: "a", Predicted: "b"}}},
		"not numbers": {Predictions: []Prediction{{Predicted: "b", Probability: math.NaN(), Margin: math.NaN(),
			Novelty: math.Inf(1), EntropyNats: math.NaN()}}},
		"class unlisted": {Predictions: []Prediction{sample("a", "surprise", "", 0.9, false)}},
		"class twice": {Classes: []Class{{Name: "a"}, {Name: "a"}},
			Predictions: []Prediction{sample("a", "a", "", 0.9, false)}},
	} {
		t.Run(name, func(t *testing.T) {
			page := render(t, p)
			if got := len(cards(parse(t, page))); got != len(p.Predictions) {
				t.Errorf("%d cards for %d predictions", got, len(p.Predictions))
			}
			if strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
				t.Error("page shows NaN or Inf")
			}
		})
	}
}

func TestWithoutTruthNothingIsJudged(t *testing.T) {
	p := samplePage()
	p.Evaluation = nil
	for i := range p.Predictions {
		p.Predictions[i].Truth = ""
	}
	page := render(t, p)
	for _, bad := range []string{`id="confusion"`, "wrong only", "mark bad", "mark good", "accuracy</span>"} {
		if strings.Contains(page, bad) {
			t.Errorf("page contains %q", bad)
		}
	}
}

func TestInputOrderDoesNotMatter(t *testing.T) {
	p := samplePage()
	want := render(t, p)
	n := len(p.Predictions)
	for i := range n / 2 {
		p.Predictions[i], p.Predictions[n-1-i] = p.Predictions[n-1-i], p.Predictions[i]
	}
	if render(t, p) != want {
		t.Error("the page depends on the order of predictions")
	}
}

func TestInvalidPages(t *testing.T) {
	for want, p := range map[string]Page{
		"MaxThumbnails":   {MaxThumbnails: -1},
		"UncertainMargin": {UncertainMargin: math.NaN()},
		"0 rows":          {Evaluation: &metrics.Report{Classes: []string{"a"}}},
		"2 columns":       {Evaluation: &metrics.Report{Classes: []string{"a"}, Confusion: [][]int{{1, 2}}}},
	} {
		if err := Write(io.Discard, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not mention %q", err, want)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteReportsAFullDisk(t *testing.T) {
	if err := Write(fullDisk{}, samplePage()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
}
