package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
)

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
	Settings    []Setting
	Errors      []Failure
	Skipped     []Skip
}

func newView(p Page) (view, error) {
	p.Title = cmp.Or(p.Title, "Report")
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return view{}, err
	}
	script, err := assets.ReadFile("assets/filter.js")
	if err != nil {
		return view{}, err
	}
	hash := sha256.Sum256(script)
	v := view{
		Page: p, Style: template.CSS(style), Script: template.JS(script),
		ScriptHash: "sha256-" + base64.StdEncoding.EncodeToString(hash[:]),
		Headlines:  headlines(p), Facts: facts(p), Pictures: newPictures(p), Total: p.total(), ClassNames: classNames(p),
		Settings: p.Settings, Errors: p.Errors, Skipped: p.Skipped,
	}
	v.evaluate(p)
	return v, nil
}

// evaluate adds the sections that need the truth.
func (v *view) evaluate(p Page) {
	if p.Evaluation == nil {
		return
	}
	confusion, calibration := newConfusion(p.Evaluation, p.Classes), newCalibration(p.Evaluation)
	v.Confusion, v.Calibration, v.Bars = &confusion, &calibration, newClassBars(p.Evaluation, p.Classes)
}

// facts returns the short facts under the title.
func facts(p Page) []Setting {
	all := []Setting{
		{"Backbone", p.Summary.Backbone}, {"Method", p.Summary.Method},
		{"Classes", classCount(p.Classes)}, {"Sessions", sessionList(p.Summary.Sessions)},
	}
	var out []Setting
	for _, f := range all {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	return out
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
	default:
		return count(len(classes)) + ", " + count(fresh) + " of them new"
	}
}

func sessionList(sessions []Session) string {
	text := ""
	for i, s := range sessions {
		if i > 0 {
			text += ", then "
		}
		text += plural(s.Classes, "class", "classes") + " from " + plural(s.Images, "image", "images")
	}
	return text
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
