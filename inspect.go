package pipeline

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"text/template"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/printable"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
	"github.com/seed-90d10d51/pipeline/model/advice"
	"github.com/seed-90d10d51/pipeline/teach"
)

// Inspected is a model that was opened to look at it.
type Inspected struct {
	*model.Model
	// History are the points of its journal, none if it was not taught.
	History []teach.Point
	// Account is of the photos that it has learned, and that were decided on its page.
	Account account.Account

	file  string
	bytes int64
}

// Inspect opens a model to look at it.
func (s *Studio) Inspect(_ context.Context, file string) (*Inspected, error) {
	m, err := model.Load(file)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	history, err := teach.Points(file)
	if err != nil {
		return nil, err
	}
	counted, err := teach.Learned(file, m, nil)
	return &Inspected{m, history, counted, file, info.Size()}, err
}

// JSON returns what a program may want to know of the model.
func (i *Inspected) JSON() any {
	m := i.Model
	return map[string]any{
		"method": m.Method, "choice": m.Choice, "settings": m.HeadConfig, "dimension": m.Dim(),
		"backbone": m.Provenance.Backbone, "text": m.Provenance.Text,
		"classes": m.ClassSizes(), "sessions": len(m.Sessions), "samples": m.SampleCount(), "advice": advice.On(m),
		"calibration": m.Predictor.Calibration, "history": append([]teach.Point{}, i.History...),
		"account": i.Account,
	}
}

// Advice says what to expect of the model, which classes need photos and which two may be one.
func (i *Inspected) Advice() []string {
	return append(account.Trained(i.Model), advice.On(i.Model).Sentences()...)
}

// Lines say what the model is, for a person. WriteClasses has its classes and its history.
func (i *Inspected) Lines() []string {
	m := i.Model
	var l lines
	l.add("%s: %s, %s from %s, %s, %.1f MB", i.file, m.Method, plural(len(m.Classes()), "class", "classes"),
		plural(m.SampleCount(), "sample", "samples"), plural(m.Dim(), "dimension", "dimensions"),
		float64(i.bytes)/1e6)
	l.add("settings   %s", m.HeadConfig)
	l.method(m)
	l.projection(m)
	l.choice(m)
	l.temperature(m)
	if s := m.Predictor.OldShare; s != 0 {
		l.add("old share  %s", s.Note())
	}
	l.backbone(m)
	l = append(append(l, priorLines(m)...), wordLines(m)...)
	l.add("made by    pipeline %s, seed %d", m.ToolVersion, m.Seed)
	l.add("photos     %s", i.Account.Counts())
	return append(append(l, account.Trained(m)...), rejectionLines(m)...)
}

// WriteClasses writes the classes of each session, and the history.
func (i *Inspected) WriteClasses(w io.Writer) error {
	if err := writeSessions(w, i.Model); err != nil {
		return err
	}
	return writeHistory(w, i.History)
}

// rejectionLines say what thresholds of --reject rest on, and what the file keeps.
func rejectionLines(m *model.Model) (l lines) {
	c := m.Predictor.Calibration
	switch {
	case c.Reason != "":
		l.add("rejection  not calibrated: %s", c.Reason)
	case c.Shots > 0:
		l.add("rejection  calibrated on %d held-out images, of base classes and of classes learned from %d", c.Samples,
			c.Shots)
	default:
		l.add("rejection  calibrated on %d held-out images", c.Samples)
	}
	if note := advice.Rejected(m, 0.05); note != "" {
		l.add("           %s", note)
	}
	if n, bytes := m.Predictor.Kept(); n > 0 {
		l.add("keeps      %s to calibrate and to forget exactly, %.1f MB; forget removes them",
			plural(n, "embedding", "embeddings"), float64(bytes)/1e6)
	}
	if m.Traces {
		l.add("traces     of what was forgotten approximately are in what all classes share")
	}
	return l
}

// method describes why the method was chosen, if it was, and how each did.
func (l *lines) method(m *model.Model) {
	if m.Choice == nil {
		return
	}
	l.add("method     chosen: %s", m.Choice.Why)
	for _, t := range m.Choice.Trials {
		line := fmt.Sprintf("           %-5s %.1f %% of held-out images, negative log-likelihood %.3f", t.Method,
			100*t.Accuracy, t.NLL)
		if t.Against != "" {
			line += fmt.Sprintf("; %+.1f points to %s, standard error %.1f", 100*t.Gain, t.Against, 100*t.Error)
		}
		l.add("%s", line)
	}
}

// choice describes what the head has decided by itself.
func (l *lines) choice(m *model.Model) {
	if head, ok := m.Predictor.Head.(classifier.Describer); ok {
		for _, r := range head.Describe() {
			l.add("%-10s %s", r.Subject, r.Text)
		}
	}
}

// temperature describes the number that log-probabilities are divided by, and
// why.
func (l *lines) temperature(m *model.Model) {
	t := m.Predictor.Temperature
	switch {
	case t == nil:
		l.add("temperature 1: probabilities are those of the method")
	case t.Fallback != "":
		l.add("temperature 1: %s", t.Fallback)
	case t.Before == 0 && t.After == 0:
		l.add("temperature %.4g, as set", t.T)
	case t.T != t.Alone && t.Later != 0:
		l.add("temperature %.4g, for this share of later classes (%s: %.4g with base classes alone)", t.T,
			held(m.Predictor.Calibration.Source), t.Alone)
	default:
		caution := ""
		if t.After > t.Before {
			caution = ", which would promise more than the images prove"
		}
		l.add("temperature %.4g (%s: negative log-likelihood %.3f, %.3f without it%s)", t.T,
			held(m.Predictor.Calibration.Source), t.After, t.Before, caution)
	}
}

// held says how examples were held out.
func held(s calibration.Source) string {
	switch s {
	case calibration.PseudoSessions:
		return "by pseudo-sessions on the base images"
	case calibration.Simulated:
		return "a rule for one image per class"
	}
	return "by leaving images out"
}

func (l *lines) backbone(m *model.Model) {
	if b := m.Provenance.Backbone; b.SHA256 == "" {
		l.add("backbone   unknown: the model was trained on features of unknown origin")
	} else {
		l.add("backbone   %s, SHA-256 %s", b.Name, b.SHA256)
	}
	if p := m.Provenance.Preprocess; p != nil {
		l.add("images     %s side %d, crop %d, %s, mean %v, std %v, EXIF orientation %t", p.Resize, p.Size, p.Crop,
			p.Interpolation, p.Mean, p.Std, p.Orientation)
		if p.View != "" {
			l.add("           %s instead of the centre crop", p.View)
		}
	}
	if t := m.Provenance.Text; t != nil {
		l.add("texts      by the network with SHA-256 %s, tokenizer %s, %d tokens, %s", t.SHA256, t.Tokenizer, t.Length,
			plural(len(t.Templates), "template", "templates"))
	}
}

// writeSessions writes the classes of each session.
func writeSessions(to io.Writer, m *model.Model) error {
	sizes := m.ClassSizes()
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, s := range m.Sessions {
		fmt.Fprintf(table, "\nsession %d\t%s\t\n", s.Index+1, plural(s.Count(), "sample", "samples"))
		for _, c := range sizes {
			if c.Session == s.Index {
				fmt.Fprintf(table, "  %s\t%s\t\n", printable.Text(c.Name), plural(c.Samples, "sample", "samples"))
			}
		}
	}
	return table.Flush()
}

// writeHistory writes the points of a journal, if there are any.
func writeHistory(to io.Writer, points []teach.Point) error {
	if len(points) == 0 {
		return nil
	}
	fmt.Fprintln(to, "\nhistory; serve goes back to a line")
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  line\ttime\tdecisions\tlabels\tclasses\t")
	for _, p := range points {
		classes := make([]string, 0, len(p.New)+len(p.Gone))
		for _, name := range p.New {
			classes = append(classes, "+"+name)
		}
		for _, name := range p.Gone {
			classes = append(classes, "-"+name)
		}
		if p.Do == teach.Save {
			classes = append(classes, "(saved)")
		}
		fmt.Fprintf(table, "  %d\t%s\t%d\t%d\t%s\t\n", p.Seq, p.Time.Local().Format("2006-01-02 15:04"), p.Decisions,
			p.Labels, printable.Text(strings.Join(classes, " ")))
	}
	return table.Flush()
}

// projection describes the projection in front of a head, if one was asked for.
func (l *lines) projection(m *model.Model) {
	c, p := m.Predictor.Comparison, m.Predictor.Projection
	switch {
	case p != nil:
		kind := "linear"
		if h := p.Config().Hidden; h > 0 {
			kind = "with a hidden layer"
		}
		if p.Config().Residual {
			kind += ", residual"
		}
		l.add("projection %d values to %d, %s, trained on the base session (deep kernel learning)", p.In(), p.Dim(),
			kind)
	case c != nil:
		l.add("projection none: the one that was trained (deep kernel learning) did not pay")
	}
	if c != nil {
		l.add("           %s", c)
	}
}

// A card is what the model card says, after Mitchell et al. 2019, "Model Cards for
// Model Reporting".
type card struct {
	Title, Method, Summary, Settings string
	Classes                          []model.ClassInfo
	Sessions                         []model.Session
	Samples, Smallest, Largest       int
	Single                           int // classes with one image
	Held                             calibration.Calibration
	Confused                         []account.Class
	Share, HeldBy                    string
	Rough, Calibrated                bool
	ECE                              float64
	Temperature                      float64
	Keeps                            int
	Traces                           bool
	Provenance                       embedding.Provenance
	SHA256, Version                  string
	Seed                             uint64
}

var cardTemplate = template.Must(template.New("card").Funcs(template.FuncMap{
	"text":    markdownText,
	"percent": func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
	"number":  func(i int) int { return i + 1 },
}).Parse(`# Model card: {{text .Title}}

Names what a photo shows: one of {{len .Classes}} classes, with a probability, or none of them. Method: ` + "`{{.Method}}`" + `, {{.Summary}}.

## Data

{{.Samples}} photos of {{len .Classes}} classes, {{if eq .Smallest .Largest}}{{.Smallest}} of each{{else}}from {{.Smallest}} to {{.Largest}} a class{{end}}, learned in {{len .Sessions}} session{{if gt (len .Sessions) 1}}s{{end}}.

| class | photos | session |
|---|---|---|
{{range .Classes}}| {{text .Name}} | {{.Samples}} | {{number .Session}} |
{{end}}
## Accuracy and calibration

{{if .Held.Accuracy}}Of photos of these classes **{{.Share}}** are named correctly, as estimated {{.HeldBy}}
({{.Held.Samples}} photos). The estimate holds for photos like those that were learned; measure on your own with
` + "`pipeline eval`" + `.
{{- else}}Unknown{{with .Held.Reason}}: {{.}}{{end}}. Measure it with ` + "`pipeline eval`" + `.{{end}}
{{if .Calibrated}}
Probabilities are calibrated on the same photos (temperature {{printf "%.3g" .Temperature}}){{if .ECE}}; they are off by {{percent .ECE}} on average{{end}}.
{{else}}
Probabilities are those of the method, not calibrated.
{{end}}{{if .Confused}}
Taken for another, of the photos of a class that were left out:
{{range .Confused}}
- {{text .Class}}, for {{text .TakenFor}}: {{.Times}} of {{.Of}} ({{percent .Low}} to {{percent .High}} of all){{end}}
{{end}}{{if .Held.Weak}}
Half or more of the held-out photos of these classes were named wrongly: {{range $i, $c := .Held.Weak}}{{if $i}}, {{end}}{{text $c}}{{end}}.
{{end}}
## Limits

- One class for a whole photo. A photo of anything else gets the nearest class unless some are rejected as unknown.
- What the network below cannot tell apart, this model cannot either; it has the biases of the images that the network was trained on.
{{if .Single}}- {{.Single}} class{{if gt .Single 1}}es were{{else}} was{{end}} learned from a single photo, and nothing is known about how well.
{{end}}{{if .Rough}}- The numbers above rest on few photos, if any: they are rough.
{{end}}{{with .Held.Reason}}- Rejection is not calibrated: {{.}}.
{{end}}{{if .Keeps}}- The file contains the embeddings of {{.Keeps}} photos, from which something of their content could be recovered.
{{end}}{{if .Traces}}- Traces of what it forgot approximately are left in what all classes share.
{{end}}
## Provenance

| | |
|---|---|
| model, SHA-256 | {{.SHA256}} |
| made by | pipeline {{.Version}}, seed {{.Seed}} |
| settings | {{text .Settings}} |
| network | {{with .Provenance.Backbone}}{{if .SHA256}}{{text .Name}}, SHA-256 {{.SHA256}}{{else}}unknown{{end}}{{end}} |
| embedding | {{.Provenance.Dim}} values |
| pixels | {{with .Provenance.Preprocess}}{{.Resize}} side {{.Size}}, crop {{.Crop}}{{with .View}} ({{.}}){{end}}, {{.Interpolation}}{{else}}unknown{{end}} |
`))

// WriteCard writes a model card in Markdown, for those who are given the model.
func (i *Inspected) WriteCard(w io.Writer) error {
	m := i.Model
	c := card{
		Title: filepath.Base(i.file), Method: m.Method, Settings: string(m.HeadConfig), Classes: m.ClassSizes(),
		Sessions: m.Sessions, Samples: m.SampleCount(),
		Held: m.Predictor.Calibration, Confused: i.Account.Confused(), Rough: account.Rough(m.Predictor.Calibration),
		Share: account.Share(m.Predictor.Calibration), HeldBy: held(m.Predictor.Calibration.Source),
		Traces: m.Traces, Provenance: m.Provenance,
		SHA256: m.SHA256(), Version: m.ToolVersion, Seed: m.Seed,
	}
	for _, row := range method.Methods() {
		if row.Name == m.Method {
			c.Summary = row.Summary
		}
	}
	for n, class := range c.Classes {
		c.Smallest, c.Largest = min(c.Smallest, class.Samples), max(c.Largest, class.Samples)
		if n == 0 {
			c.Smallest = class.Samples
		}
		if class.Samples == 1 {
			c.Single++
		}
	}
	if t := m.Predictor.Temperature; t != nil && t.Fallback == "" && t.Before > 0 {
		c.Calibrated, c.Temperature, c.ECE = true, t.T, account.CalibrationError(m)
	}
	c.Keeps, _ = m.Predictor.Kept()
	return cardTemplate.Execute(w, c)
}

// markdownText returns text that Markdown shows as it is, also in a cell of a table.
func markdownText(text string) string {
	return strings.NewReplacer("\n", " ", "\r", " ", "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[",
		`\[`, `\`, `\\`).Replace(text)
}
