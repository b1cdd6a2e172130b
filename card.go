package pipeline

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// A card is what the model card says, after Mitchell et al. 2019, "Model Cards for
// Model Reporting".
type card struct {
	Title, Method, Summary, Settings string
	Classes                          []model.ClassInfo
	Sessions                         []model.Session
	Samples, Smallest, Largest       int
	Single                           int // classes with one image
	Held                             calibration.Calibration
	Share, HeldBy                    string
	Rough, Calibrated                bool
	ECE                              float64
	Temperature                      float64
	Keeps                            int
	Traces                           bool
	Provenance                       embed.Provenance
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
{{end}}{{if .Held.Confusions}}
Confused most:
{{range .Held.Confusions}}
- {{text .Class}}, named {{text .As}}: {{.Count}} of {{.Of}}{{end}}
{{end}}{{if .Held.Weak}}
Half or more of the held-out photos of these classes were named wrongly: {{range $i, $c := .Held.Weak}}{{if $i}}, {{end}}{{text $c}}{{end}}.
{{end}}
## Limits

- One class for a whole photo. A photo of anything else gets the nearest class unless ` + "`--reject`" + ` is used.
- What the network below cannot tell apart, this model cannot either; it has the biases of the images that the network was trained on.
{{if .Single}}- {{.Single}} class{{if gt .Single 1}}es were{{else}} was{{end}} learned from a single photo, and nothing is known about how well.
{{end}}{{if .Rough}}- The numbers above rest on few photos, if any: they are rough.
{{end}}{{with .Held.Reason}}- ` + "`--reject`" + ` is not calibrated: {{.}}.
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
		Held: m.Predictor.Calibration, Rough: account.Rough(m.Predictor.Calibration),
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
