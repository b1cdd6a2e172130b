package dataset

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// A fiftyOne is what FiftyOne exports: samples with their fields, or the classes of files by name.
type fiftyOne struct {
	Samples []map[string]any `json:"samples"`
	Classes fiftyOneClasses  `json:"classes"`
	Labels  map[string]any   `json:"labels"`
}

// fiftyOneClasses are the names of classes, null where labels are text.
type fiftyOneClasses struct {
	given bool
	names []string
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *fiftyOneClasses) UnmarshalJSON(text []byte) error {
	c.given = true
	return json.Unmarshal(text, &c.names)
}

// openFiftyOne reads an export of FiftyOne: samples.json of a FiftyOneDataset, of which each field with
// labels is a column, or labels.json of a FiftyOneImageClassificationDataset. ok is false for any other
// text.
func openFiftyOne(t *text, g guesser) (r records, ok bool) {
	if t.size > mostJSON {
		return r, false
	}
	var f fiftyOne
	d := json.NewDecoder(t.raw())
	d.UseNumber()
	if d.Decode(&f) != nil {
		return r, false
	}
	if f.Classes.given && f.Labels != nil {
		return f.files(t.size, g), true
	}
	if !slices.ContainsFunc(f.Samples, func(s map[string]any) bool { return jsonText(s["filepath"]) != "" }) {
		return r, false
	}
	var rows []map[string]any
	for _, sample := range f.Samples {
		row := map[string]any{"path": sample["filepath"]}
		for name, value := range sample {
			if labels, is := fieldLabels(value); is && name != "path" {
				row[name] = severalCell(labels)
			}
		}
		rows = append(rows, row)
	}
	return flat(rows), true
}

// fieldLabels returns the labels of a field; is is false if it is of another kind.
func fieldLabels(field any) (labels []string, is bool) {
	object, _ := field.(map[string]any)
	for _, several := range []string{"classifications", "detections"} {
		if object[several] == nil {
			continue
		}
		for _, one := range objects(object[several]) {
			if label := jsonText(one["label"]); label != "" && !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
		return labels, true
	}
	if label := jsonText(object["label"]); label != "" {
		return []string{label}, true
	}
	return nil, false
}

// files are the classes of files, which are called without their suffix and lie in the folder data unless
// they are found without it.
func (f fiftyOne) files(size int64, g guesser) records {
	names := slices.Sorted(maps.Keys(f.Labels))
	folder := ""
	for _, name := range names[:min(len(names), headRows)] {
		for _, suffix := range append([]string{""}, suffixes...) {
			if g.exists("data/"+name, suffix) && !g.exists(name, suffix) {
				folder = "data/"
			}
		}
	}
	return made([]string{"path", "label"}, size, func(add func(cells ...string) bool) {
		for _, name := range names {
			if !add(folder+name, severalCell(f.classes(f.Labels[name]))) {
				return
			}
		}
	})
}

// classes are those that a value names, by number or text.
func (f fiftyOne) classes(value any) (labels []string) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			labels = append(labels, f.classes(one)...)
		}
	case map[string]any:
		return f.classes(v["label"])
	case json.Number:
		if i, err := strconv.Atoi(v.String()); err == nil && i >= 0 && i < len(f.Classes.names) {
			return f.Classes.names[i : i+1]
		}
	case string:
		return []string{v}
	}
	return labels
}
