package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
)

//go:embed assets
var assets embed.FS

// Write writes the page to w. On error the output is incomplete, so write to a
// temporary file.
func Write(w io.Writer, p Page) error {
	if err := p.Validate(); err != nil {
		return err
	}
	v, err := newView(p)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	t, err := template.New("page.html").Funcs(template.FuncMap{"count": count, "plural": plural,
		"show": showName}).ParseFS(assets, "assets/*.html")
	if err != nil {
		return fmt.Errorf("report: parse template: %w", err)
	}
	out := bufio.NewWriter(w)
	if err = t.Execute(out, v); err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("report: write page: %w", err)
	}
	return nil
}

// view is the page as the template sees it. Names taken from Page directly go
// through the template function show.
type view struct {
	Page        Page
	Style       template.CSS
	Script      template.JS
	ScriptHash  string
	Headlines   []headline
	Facts       []Setting
	Pictures    pictures
	Total       int
	ClassNames  []string
	Confusion   *confusion
	Bars        []classBar
	Calibration *calibration
	Confidence  *confidencePlot
	Novelty     *histogram
	Activity    template.URL
}

func newView(p Page) (view, error) {
	p.Title = cmp.Or(p.Title, "Report")
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return view{}, err
	}
	script, err := assets.ReadFile("assets/page.js")
	if err != nil {
		return view{}, err
	}
	hash := sha256.Sum256(script)
	v := view{
		Page: p, Style: template.CSS(style), Script: template.JS(script),
		ScriptHash: "sha256-" + base64.StdEncoding.EncodeToString(hash[:]),
		Headlines:  headlines(p), Facts: facts(p), Pictures: newPictures(p), Total: p.total(),
		ClassNames: classNames(p),
	}
	if e := p.Evaluation; e != nil {
		confusion, calibration := newConfusion(e, p.Classes), newCalibration(e)
		confusion.Linked = len(v.Pictures.Groups) > 0
		v.Confusion, v.Calibration, v.Bars = &confusion, &calibration, newClassBars(e, p.Classes)
	}
	if p.Activity != nil {
		v.Activity = dataURI("image/svg+xml", p.Activity.SVG)
	}
	seen := p.census()
	v.Confidence, v.Novelty = newConfidencePlot(seen), newNoveltyPlot(seen, p.Threshold)
	return v, nil
}

// facts returns the short facts under the title.
func facts(p Page) []Setting {
	return slices.DeleteFunc([]Setting{
		{"Backbone", p.Summary.Backbone}, {"Method", p.Summary.Method},
		{"Classes", classCount(p.Classes)}, {"Sessions", sessionList(p.Summary.Sessions)},
	}, func(f Setting) bool { return f.Value == "" })
}

func classCount(classes []Class) string {
	fresh := 0
	for _, c := range classes {
		if c.New {
			fresh++
		}
	}
	switch {
	case len(classes) == 0:
		return ""
	case fresh == 0:
		return count(len(classes))
	}
	return count(len(classes)) + ", " + count(fresh) + " of them new"
}

func sessionList(sessions []Session) string {
	var parts []string
	for _, s := range sessions {
		parts = append(parts, plural(s.Classes, "class", "classes")+" from "+plural(s.Images, "image", "images"))
	}
	return strings.Join(parts, ", then ")
}

// classNames returns the choices of the class filter: all predicted or known
// classes.
func classNames(p Page) []string {
	seen := map[string]bool{}
	var out []string
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, c := range p.Classes {
		add(showName(c.Name))
	}
	for _, q := range p.Predictions {
		add(showName(q.Predicted))
	}
	return out
}
