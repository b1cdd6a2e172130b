package export_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/export"
)

// table reads a CSV file by its header.
func table(t *testing.T, file string) (rows []map[string]string) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	cells := must.Get(csv.NewReader(bytes.NewReader(text)).ReadAll())(t)
	for _, record := range cells[1:] {
		row := map[string]string{}
		for i, cell := range record {
			if cell != "" {
				row[cells[0][i]] = cell
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// TestCamtrap: what people, machines and nobody know about a photo, and its place and
// time, are told apart.
func TestCamtrap(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	names := []string{"NA/zoned.jpg", "NA/b.jpg", "c..d.JPG", "e/undated.jpg", "f/r.jpg", "f/s.png", "f/t.jpg",
		"f/u.jpg"}
	write(t, root, names...)
	classes := map[string]string{"NA/zoned.jpg": "Vulpes vulpes", "NA/b.jpg": "Person", "c..d.JPG": "NA",
		"f/r.jpg": "cat", "f/s.png": "", "f/t.jpg": "empty", "f/u.jpg": "lynx"}
	var rows []label.Scored
	for _, name := range names {
		rows = append(rows, row(name, classes[name]))
	}
	rows[4].By, rows[4].Rejected = "", true
	rows[7].By, rows[7].Prediction.Probability = "", 0.875
	o := options(root, dir)
	sinks := must.Get(export.Sinks([]string{"camtrap-dp"}, o))(t)
	for _, r := range rows {
		err := sinks[0].Put(r)
		var item *label.ItemError
		if undated := r.Sample.Path == "e/undated.jpg"; errors.As(err, &item) != undated || !undated && err != nil {
			t.Errorf("%s: %v", r.Sample.Path, err)
		}
	}
	must.Do(t, sinks[0].Commit(embedding.Outcome{}))
	deployments := map[string]map[string]string{}
	for _, d := range table(t, filepath.Join(dir, "camtrap-dp/deployments.csv")) {
		deployments[d["deploymentID"]] = d
	}
	if d := deployments["./NA"]; len(deployments) != 3 || d["deploymentStart"] != "2025-06-14T10:11:12Z" ||
		d["deploymentEnd"] != "2025-06-14T09:11:12-02:00" || d["timestampIssues"] != "true" || d["cameraID"] != "7" ||
		d["coordinateUncertainty"] != "20003932" || deployments["7"] == nil {
		t.Errorf("%v", deployments)
	}
	media := table(t, filepath.Join(dir, "camtrap-dp/media.csv"))
	if len(media) != 7 || media[2]["filePath"] != "c.%2Ed.JPG" || media[2]["mediaID"] != "c..d.JPG" ||
		media[4]["fileMediatype"] != "image/png" {
		t.Errorf("%v", media)
	}
	for i, want := range []string{
		"animal Vulpes vulpes human person", "human class:Person human person", "animal class:NA human person",
		"unknown machine ncm 0123", "unknown human person", "blank class:empty human person",
		"animal lynx machine ncm 0123 0.875",
	} {
		got := table(t, filepath.Join(dir, "camtrap-dp/observations.csv"))[i]
		var parts []string
		for _, field := range []string{"observationType", "scientificName", "observationTags", "classificationMethod",
			"classifiedBy", "classificationProbability"} {
			if got[field] != "" {
				parts = append(parts, got[field])
			}
		}
		if strings.Join(parts, " ") != want || got["eventStart"] == "" {
			t.Errorf("%v, want %s", got, want)
		}
	}
	want := maps.Clone(classes)
	want["f/r.jpg"] = ""
	if got := read(t, filepath.Join(dir, "camtrap-dp/observations.csv"), root); !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNoTimeAtAll: a package without a photo would have no period, which it must have.
func TestNoTimeAtAll(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "undated.jpg")
	sinks := must.Get(export.Sinks([]string{"camtrap-dp"}, options(root, dir)))(t)
	defer sinks[0].Abort()
	_ = sinks[0].Put(row("undated.jpg", "cat"))
	err := sinks[0].Commit(embedding.Outcome{})
	if err == nil || !strings.Contains(err.Error(), "leave out camtrap-dp") {
		t.Error(err)
	}
	sinks[0].Abort()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v %v", entries, err)
	}
}

// What a list says of when a photo was taken is enough.
func TestTimeOfAList(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, "undated.jpg")
	listed := row("undated.jpg", "cat")
	listed.Sample.Taken = "2025-06-14 10:11:12"
	run(t, options(root, dir), []string{"camtrap-dp"}, listed)
	if _, err := os.Stat(filepath.Join(dir, "camtrap-dp", "media.csv")); err != nil {
		t.Error(err)
	}
}
