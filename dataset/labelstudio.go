package dataset

import (
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/phrase"
)

// isTask recognises a task of Label Studio's full export.
func isTask(object map[string]any) bool {
	data, ok := object["data"].(map[string]any)
	return ok && len(data) > 0 && (object["annotations"] != nil || object["completions"] != nil ||
		object["predictions"] != nil)
}

// tasks reads tasks, of which one group of choices has the classes.
func (g guesser) tasks(tasks []map[string]any, size int64) (records, error) {
	all, header := groups(tasks), []string{"path", "label"}
	group := ""
	switch {
	case g.opts.LabelColumn != "" && len(all) > 0:
		i, err := named(all, g.opts.LabelColumn, "label-from")
		if err != nil {
			return records{}, err
		}
		group, header[1] = all[i], g.opts.LabelColumn
	case len(all) < 2:
	case g.opts.LabelsOptional || g.opts.ClassFrom != "":
		header = header[:1]
	default:
		return records{}, &ColumnError{phrase.New("which group of choices has the classes? Name one of %s with "+
			"{label-from}", list(all))}
	}
	return made(header, size, func(add func(cells ...string) bool) {
		for _, task := range tasks {
			if !taskRows(task, group, g.opts.ClassFrom, func(path, label string) bool {
				return add([]string{path, label}[:len(header)]...)
			}) {
				return
			}
		}
	}), nil
}

// groups are the names of the controls with which people gave classes, sorted.
func groups(tasks []map[string]any) []string {
	names := map[string]bool{}
	for _, task := range tasks {
		for _, key := range []string{"annotations", "completions"} {
			for _, a := range objects(task[key]) {
				for _, result := range objects(a["result"]) {
					value, _ := result["value"].(map[string]any)
					if value["choices"] != nil || value["taxonomy"] != nil || value["rectanglelabels"] != nil {
						names[jsonText(result["from_name"])] = true
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// ofGroup returns the results of a group of choices; "" is all.
func ofGroup(results any, group string) (found []map[string]any) {
	for _, result := range objects(results) {
		if group == "" || jsonText(result["from_name"]) == group {
			found = append(found, result)
		}
	}
	return found
}

// taxa are the classes of paths of a taxonomy: the last names, unless from says top or path.
func taxa(paths [][]string, from ClassFrom) (labels []string) {
	for _, names := range paths {
		switch {
		case len(names) == 0:
		case from == ClassFromPath:
			labels = append(labels, strings.Join(names, "/"))
		case from == ClassFromTop:
			labels = append(labels, names[0])
		default:
			labels = append(labels, names[len(names)-1])
		}
	}
	return labels
}

// taskRows yields the photo of a task with the choices of each annotation, once where these are
// the same: people who disagree contradict each other, and that is reported. Predictions are not
// what a person decided, and of cancelled annotations alone the photo was set aside. It ends when
// use returns false, and returns that.
func taskRows(task map[string]any, group string, from ClassFrom, use func(path, label string) bool) bool {
	data, _ := task["data"].(map[string]any)
	photo := ""
	for _, key := range []string{"image", "img", "photo", "path", "url"} {
		if photo == "" {
			photo = jsonText(data[key])
		}
	}
	for _, key := range sortedKeys(data) {
		if value := jsonText(data[key]); photo == "" && isImageName(value) {
			photo = value
		}
	}
	photo = cut(photo, maxPathBytes)
	var cells []string
	said := map[string]bool{"": true}
	aside, boxed := "", false
	for _, key := range []string{"annotations", "completions"} {
		for _, a := range objects(task[key]) {
			if cancelled, _ := a["was_cancelled"].(bool); cancelled {
				aside = asideCell
				continue
			}
			results := ofGroup(a["result"], group)
			for _, b := range rectangles(results) {
				boxed = true
				if !use(photo+b[0], b[1]) {
					return false
				}
			}
			labels := choices(results, from)
			slices.Sort(labels)
			if cell := severalCell(slices.Compact(labels)); !said[cell] {
				said[cell] = true
				cells = append(cells, cell)
			}
		}
	}
	if len(cells) == 0 && !boxed {
		cells = []string{aside}
	}
	return !slices.ContainsFunc(cells, func(cell string) bool { return !use(photo, cell) })
}

// BoxID is what the id of a rectangle of Label Studio begins with that is a box of a photo,
// before its number.
const BoxID = "box-"

// rectangles returns the boxes in results, as they follow the path of their photo, with their
// labels. One that a person drew has no number: the path of no file, so that it is reported.
func rectangles(results []map[string]any) (boxes [][2]string) {
	for _, result := range results {
		value, _ := result["value"].(map[string]any)
		chosen, _ := value["rectanglelabels"].([]any)
		var labels []string
		for _, name := range chosen {
			if label := jsonText(name); label != "" {
				labels = append(labels, label)
			}
		}
		if len(labels) > 0 {
			box := "%23drawn-" + jsonText(result["id"])
			if number, ok := strings.CutPrefix(jsonText(result["id"]), BoxID); ok {
				box = boxMark + number
			}
			boxes = append(boxes, [2]string{box, severalCell(labels)})
		}
	}
	return boxes
}

// choices are the classes of a whole photo in results.
func choices(results []map[string]any, from ClassFrom) (labels []string) {
	for _, result := range results {
		value, _ := result["value"].(map[string]any)
		chosen, _ := value["choices"].([]any)
		for _, choice := range chosen {
			if label := jsonText(choice); label != "" {
				labels = append(labels, label)
			}
		}
		paths, _ := value["taxonomy"].([]any)
		for _, path := range paths {
			labels = append(labels, taxa([][]string{texts(path)}, from)...)
		}
	}
	return labels
}

// texts are the texts in a JSON array.
func texts(value any) (found []string) {
	list, _ := value.([]any)
	for _, item := range list {
		if text := jsonText(item); text != "" {
			found = append(found, text)
		}
	}
	return found
}

// objects returns the objects in a JSON array.
func objects(value any) (found []map[string]any) {
	list, _ := value.([]any)
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			found = append(found, object)
		}
	}
	return found
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// uploaded is how Label Studio calls an uploaded file: it adds a few digits.
var uploaded = regexp.MustCompile(`^/data/upload/(?:\d+/)?(?:[0-9a-f]{4,12}-)?(.+)$`)

// hosted returns the paths that an address of Label Studio or of the web may mean.
func hosted(cell string) (paths []string) {
	if m := uploaded.FindStringSubmatch(cell); m != nil {
		return []string{m[1], path.Base(cell)}
	}
	u, err := url.Parse(cell)
	if err != nil || u.Scheme == "" && !strings.HasPrefix(cell, "/data/local-files/") {
		return nil
	}
	if local := u.Query().Get("d"); local != "" {
		// Windows writes backslashes; elsewhere a name may have them.
		return append(tails(local), tails(strings.ReplaceAll(local, `\`, "/"))...)
	}
	return tails(strings.TrimPrefix(u.Path, "/"))
}

// mostTails bounds how many folders of an address may belong to the path of a photo.
const mostTails = 16

// tails returns a path without its first folders: all, all but one, … Of one that is very deep,
// they are the last.
func tails(name string) (paths []string) {
	for at := len(name); at >= 0 && len(paths) < mostTails; {
		at = strings.LastIndexByte(name[:at], '/')
		if tail := name[at+1:]; tail != "" {
			paths = append(paths, tail)
		}
	}
	slices.Reverse(paths)
	return paths
}
