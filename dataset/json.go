package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// mostJSON bounds a list that is one JSON value, which is read into memory.
const mostJSON = 1 << 30

// openJSONArray reads a JSON array of records: flat ones, whose keys are the columns, or
// the tasks that Label Studio exports.
func openJSONArray(t *text, g guesser) (records, error) {
	if t.size > mostJSON {
		return records{}, fmt.Errorf("a JSON array of more than %d MiB; write one record a line (JSON lines)",
			mostJSON>>20)
	}
	d := json.NewDecoder(t.raw())
	d.UseNumber()
	var objects []map[string]any
	if err := d.Decode(&objects); err != nil {
		return records{}, fmt.Errorf("not a JSON array of records: %w", err)
	}
	if slices.ContainsFunc(objects, isTask) {
		return g.tasks(objects, t.size)
	}
	return flat(objects), nil
}

// flat are records of objects whose keys are the columns.
func flat(objects []map[string]any) records {
	keys := map[string]bool{}
	for _, object := range objects {
		for key := range object {
			keys[key] = true
		}
	}
	header := slices.Sorted(maps.Keys(keys))
	return records{header: header, unit: "record", each: func(wanted []int, use func(int, []string) bool) error {
		row := jsonRow(header, wanted)
		for i, object := range objects {
			if !use(i+1, row(object)) {
				return nil
			}
		}
		return nil
	}}
}

// jsonRow returns a function that fills the wanted cells (nil: all) from an object.
func jsonRow(header []string, wanted []int) func(object map[string]any) []string {
	if wanted == nil {
		for i := range header {
			wanted = append(wanted, i)
		}
	}
	cells := make([]string, len(header))
	return func(object map[string]any) []string {
		for _, i := range wanted {
			cells[i] = jsonText(object[header[i]])
		}
		return cells
	}
}

// A cocoFile is what a list needs of COCO's format.
type cocoFile struct {
	Images []struct {
		ID   json.RawMessage `json:"id"`
		File string          `json:"file_name"`
		// SetAside is of exports of this program.
		SetAside bool `json:"set_aside"`
	} `json:"images"`
	Annotations []struct {
		Image    json.RawMessage `json:"image_id"`
		Category json.RawMessage `json:"category_id"`
		By       *string         `json:"by"` // of exports of this program, "" for its own labels
	} `json:"annotations"`
	Categories []struct {
		ID   json.RawMessage `json:"id"`
		Name string          `json:"name"`
	} `json:"categories"`
}

// openCOCO reads images with the categories of their annotations, each a record. ok is false if a text
// that begins with an object is not COCO's.
func openCOCO(t *text) (r records, ok bool, err error) {
	if t.size > mostJSON {
		return r, false, nil
	}
	var c cocoFile
	if err := json.NewDecoder(t.raw()).Decode(&c); err != nil || c.Images == nil {
		return r, false, nil
	}
	if len(c.Images) > 0 && c.Images[0].File == "" {
		return r, true, errors.New("the images of this JSON have no file_name, which COCO's have")
	}
	r = made([]string{"path", "label", "by", "probability"}, t.size, c.rows)
	r.several = true
	return r, true, nil
}

// rows makes a row of each photo and category that it has, or one without.
func (c *cocoFile) rows(add func(cells ...string) bool) {
	type label struct{ name, by string }
	names, of := map[string]string{}, map[string][]label{}
	for _, category := range c.Categories {
		names[string(category.ID)] = JoinLabels(cut(category.Name, maxNameBytes))
	}
	for _, a := range c.Annotations {
		by := "person"
		if a.By != nil {
			by = *a.By
		}
		of[string(a.Image)] = append(of[string(a.Image)], label{names[string(a.Category)], by})
	}
	for _, image := range c.Images {
		labels, listed := of[string(image.ID)]
		delete(of, string(image.ID)) // in a damaged file, all images may have one id
		if !listed && image.SetAside {
			labels = []label{{by: "person"}}
		} else if !listed {
			labels = []label{{}}
		}
		for _, l := range labels {
			if !add(cut(image.File, maxPathBytes), l.name, l.by, "") {
				return
			}
		}
	}
}

// openJSONMap reads one JSON object whose keys are paths and whose values are labels. ok is
// false for any other text: a key must be a file.
func openJSONMap(t *text, g guesser) (r records, ok bool) {
	if t.size > mostJSON {
		return r, false
	}
	d := json.NewDecoder(t.raw())
	d.UseNumber()
	var labels map[string]any
	if err := d.Decode(&labels); err != nil || d.Decode(new(any)) != io.EOF {
		return r, false
	}
	paths := slices.Sorted(maps.Keys(labels))
	if !slices.ContainsFunc(paths[:min(len(paths), headRows)], func(path string) bool { return g.exists(path, "") }) {
		return r, false
	}
	return made([]string{"path", "label"}, t.size, func(add func(cells ...string) bool) {
		for _, path := range paths {
			if !add(path, jsonText(labels[path])) {
				return
			}
		}
	}), true
}

// openJSON reads JSON lines. The columns are the keys in the first objects.
func openJSON(t *text) (records, error) {
	each := func(use func(number int, object map[string]any) bool) error {
		return eachLine(t, isComment, func(number int, line string) (bool, error) {
			var object map[string]any
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			if err := d.Decode(&object); err != nil || d.Decode(new(any)) != io.EOF {
				return false, fmt.Errorf("line %d is not one JSON object", number)
			}
			return use(number, object), nil
		})
	}
	keys, n := map[string]bool{}, 0
	err := each(func(_ int, object map[string]any) bool {
		for key := range object {
			keys[key] = true
		}
		n++
		return n < headRows
	})
	if err != nil {
		return records{}, err
	}
	r := records{header: slices.Sorted(maps.Keys(keys)), unit: "line"}
	r.each = func(wanted []int, use func(int, []string) bool) error {
		row := jsonRow(r.header, wanted)
		return each(func(number int, object map[string]any) bool { return use(number, row(object)) })
	}
	return r, nil
}

// isObject reports whether a line is a JSON object.
func isObject(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "{") && json.Valid([]byte(line))
}

// jsonText is the text of a JSON string, number or boolean, the JSON of a list or of several
// choices, and "" for anything else.
func jsonText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number, bool:
		return fmt.Sprint(v)
	case map[string]any: // several choices of Label Studio
		if v["choices"] != nil {
			several, _ := json.Marshal(map[string]any{"choices": v["choices"]}) // it has been JSON
			return string(several)
		}
	case []any:
		return listText(v)
	}
	return ""
}

// listText is the cell of several labels if all of a list are strings, otherwise its JSON.
func listText(list []any) string {
	labels := make([]string, 0, len(list))
	for _, v := range list {
		if label, ok := v.(string); ok {
			labels = append(labels, label)
		}
	}
	if len(labels) == len(list) {
		return severalCell(labels)
	}
	text, _ := json.Marshal(list) // it has been JSON
	return string(text)
}
