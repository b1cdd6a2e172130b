package dataset

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// isTask recognises a task of Label Studio's full export.
func isTask(object map[string]any) bool {
	data, ok := object["data"].(map[string]any)
	return ok && len(data) > 0 && (object["annotations"] != nil || object["completions"] != nil ||
		object["predictions"] != nil)
}

// taskRows yields the photo of a task with the choices of each annotation, once where these are
// the same: people who disagree contradict each other, and that is reported. Predictions are not
// what a person decided, and of cancelled annotations alone the photo was set aside. It ends when
// use returns false, and returns that.
func taskRows(task map[string]any, use func(path, label string) bool) bool {
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
			for _, b := range rectangles(a["result"]) {
				boxed = true
				if !use(photo+b[0], b[1]) {
					return false
				}
			}
			labels := choices(a["result"])
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
func rectangles(results any) (boxes [][2]string) {
	for _, result := range objects(results) {
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

func choices(results any) (labels []string) {
	for _, result := range objects(results) {
		value, _ := result["value"].(map[string]any)
		chosen, _ := value["choices"].([]any)
		for _, choice := range chosen {
			if label := jsonText(choice); label != "" {
				labels = append(labels, label)
			}
		}
	}
	return labels
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
		return tails(local)
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
