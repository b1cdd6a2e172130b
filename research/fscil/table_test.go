package fscil

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// two returns a result of two sessions, the mean of so many runs.
func two(t *testing.T, method, track string, runs int) Result {
	t.Helper()
	novel, harmonic := 0.25, 1./3
	var all []Run
	for i := range runs {
		off := 0.01 * float64(2*i+1-runs) // on both sides of the mean
		all = append(all, Run{Sessions: []Measures{
			{Session: 1, Classes: 60, Accuracy: 0.75 + off, Base: 0.75},
			{Session: 2, Classes: 65, Accuracy: 0.5 + off, Base: 0.5, Novel: &novel, Harmonic: &harmonic,
				Forgetting: 0.25},
		}})
	}
	r := must.Get(Summarise(Info{Dataset: "mini_imagenet", Method: method, Backbone: "net", Track: track}, all))(t)
	return r
}

func TestTableOfOurs(t *testing.T) {
	table := must.Get(NewTable([]Result{two(t, "a|b", Foundation, 1), two(t, "c", Foundation, 2)}))(t)
	csv := must.Get(table.CSV())(t)
	const want = `method,backbone,source,1,2,average,final,drop,base,novel,harmonic mean,forgetting
a|b,net,this run,75.00,50.00,62.50,50.00,25.00,50.00,25.00,33.33,25.00
c,net,"these 2 runs, ± SEM",75.00 ± 1.00,50.00 ± 1.00,62.50,50.00,25.00,50.00,25.00,33.33,25.00
`
	if string(csv) != want {
		t.Errorf("got\n%swant\n%s", csv, want)
	}
	md := TrackText(Foundation) + table.Markdown()
	for _, want := range []string{`| a\|b | net | this run | 75.00 |`, "No published row",
		"Not comparable with other tracks"} {
		if !strings.Contains(md, want) {
			t.Errorf("%q is not in\n%s", want, md)
		}
	}
}

// TestTracksNeverMeet: published rows only appear with results of their own
// track, and results of two tracks cannot share a table.
func TestTracksNeverMeet(t *testing.T) {
	table := must.Get(NewTable([]Result{two(t, "a", BaseOnly, 1)}))(t)
	if len(table.Rows) != 1+15 {
		t.Fatalf("%d published rows", len(table.Rows)-1)
	}
	for _, row := range table.Rows {
		if len(row) != len(table.Header) || row[1] == "" || row[2] == "" {
			t.Errorf("row %v has no source or backbone, or not as many cells as the header", row)
		}
	}
	for _, track := range []string{PretrainedDisjoint, Foundation} {
		table, err := NewTable([]Result{two(t, "a", track, 1)})
		if err != nil || len(table.Rows) != 1 {
			t.Errorf("%s: %d published rows, %v", track, len(table.Rows)-1, err)
		}
	}
	if _, err := NewTable([]Result{two(t, "a", BaseOnly, 1), two(t, "a|b", Foundation, 1)}); err == nil {
		t.Error("two tracks share a table")
	}
	if _, err := NewTable(nil); err == nil {
		t.Error("a table of nothing")
	}
}

func TestPublishedRows(t *testing.T) {
	rows := must.Get(Published("mini_imagenet", BaseOnly))(t)
	i := slices.IndexFunc(rows, func(r PublishedRow) bool { return r.Method == "TOPIC" })
	if i < 0 || rows[i].Accuracy[8] != 24.42 || len(rows[i].Accuracy) != 9 {
		t.Fatalf("TOPIC: %+v", rows)
	}
	cells := rows[i].row(9)
	if cells[3] != "61.31" || cells[12] != "39.64" || cells[13] != "24.42" || cells[14] != "36.89" {
		t.Errorf("cells %v", cells)
	}
	for want, text := range map[string]string{
		"imagenet":      `[{dataset: d, track: imagenet, method: m, backbone: b, source: s, last: 1}]`,
		"must be given": `[{dataset: d, track: foundation, method: m, backbone: b, last: 1}]`,
		"percentage":    `[{dataset: d, track: foundation, method: m, backbone: b, source: s, last: 101}]`,
		"either all":    `[{dataset: d, track: foundation, method: m, backbone: b, source: s}]`,
		"field acc":     `[{acc: 1}]`,
	} {
		if _, err := parsePublished([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestPublishedNumbersAreThePapers: every number in published.yaml is in the
// collection of the papers' numbers.
func TestPublishedNumbersAreThePapers(t *testing.T) {
	text := string(must.Get(os.ReadFile(shared.Path(t, "spec", "paper_tables.yaml")))(t))
	// Later publications are in one section of the specification.
	systems := string(must.Get(os.ReadFile(shared.Path(t, "spec", "systems.md")))(t))
	_, later, found := strings.Cut(systems, "\n## 26. ")
	if !found {
		t.Fatal("systems.md has no section 26")
	}
	text += later
	printed := map[float64]bool{}
	for _, n := range regexp.MustCompile(`\d+\.\d+`).FindAllString(text, -1) {
		v := must.Get(strconv.ParseFloat(n, 64))(t)
		printed[v] = true
	}
	rows := must.Get(parsePublished(publishedYAML))(t)
	for _, r := range rows {
		for _, v := range append(slices.Clone(r.Accuracy), thoseGiven(r.First, r.Last, r.Average)...) {
			if !printed[v] {
				t.Errorf("%s on %s: %v is in no paper", r.Method, r.Dataset, v)
			}
		}
	}
}

// TestResultJSON pins the contract of results.json.
func TestResultJSON(t *testing.T) {
	text := must.Get(json.Marshal(two(t, "a|b", Foundation, 1)))(t)
	const want = `{"dataset":"mini_imagenet","method":"a|b","backbone":"net","track":"foundation","runs":1,` +
		`"sessions":[` +
		`{"session":1,"classes":60,"accuracy":0.75,"accuracy_sem":null,"base_accuracy":0.75,"novel_accuracy":null,` +
		`"harmonic_mean":null,"forgetting":0,"nll":0,"ece":0},` +
		`{"session":2,"classes":65,"accuracy":0.5,"accuracy_sem":null,"base_accuracy":0.5,"novel_accuracy":0.25,` +
		`"harmonic_mean":0.3333333333333333,"forgetting":0.25,"nll":0,"ece":0}],` +
		`"average_accuracy":0.625,"final_accuracy":0.5,"performance_drop":0.25,"average_forgetting":0.25}`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestLimitIsShown: the row of a head that stores few examples per class says
// how many.
func TestLimitIsShown(t *testing.T) {
	for most, want := range map[int]string{30: "gpr (at most 30 per class)", 0: "gpr"} {
		r := Result{Info: Info{Method: "gpr", MaxPerClass: most}, Runs: 1}
		if got := r.place()["method"]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
