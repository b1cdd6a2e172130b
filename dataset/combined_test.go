package dataset

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// TestTablesOfFieldPrograms: paths and labels that are put together of several columns, as Timelapse,
// camtrapR and FiftyOne write them, and paths that begin above the folder of the photos or on another
// machine. What could be another photo's is none.
func TestTablesOfFieldPrograms(t *testing.T) {
	root := filepath.Join(tree(t, map[string]string{
		"ph/st1/100/a.JPG": "", "ph/st1/100/c.JPG": "", "ph/st2/100/a.JPG": "", "ph/stray.JPG": "",
	}), "ph")
	both := []string{"st1/100/a.JPG=Pizza", "st2/100/a.JPG=Ketch"}
	timelapse := "RootFolder,File,RelativePath,DateTime,DeleteFlag,Species\n" +
		`ph,a.JPG,st1\100,2024-05-01 06:00:00,false,Pizza` + "\n" +
		`ph,a.JPG,st2\100,2024-05-01 06:00:00,false,Ketch` + "\n"
	for name, c := range map[string]struct {
		below, text string
		want        []string
		problems    string
	}{
		"Timelapse":               {"", timelapse, both, ""},
		"Timelapse, in a station": {"st1/100", timelapse, []string{"a.JPG=Pizza"}, "st2/100/a.JPG"},
		"camtrapR": {"", "Station,Directory,FileName,Species\n1,ph/st1/100,a.JPG,Pizza\n2,ph/st2/100,a.JPG,Ketch\n",
			both, ""},
		"above": {"", "path,label\nph/st1/100/a.JPG,Pizza\nph\\st2\\100\\a.JPG,Ketch\n", both, ""},
		"Windows": {"", "path,label\nC:\\me\\ph\\st1\\100\\a.JPG,Pizza\nD:\\other\\st2\\100\\a.JPG,Ketch\n",
			both, ""},
		"Linux": {"", "path,label\n/nowhere/ph/st1/100/a.JPG,Pizza\n/nowhere/stray.JPG,Ketch\n", both[:1],
			"/nowhere/stray.JPG"},
		"one-hot": {"", "filename,Pizza,Ketch\nst1/100/a.JPG,1,0\nst2/100/a.JPG,0,1.0\n", both, ""},
		"one-hot, several": {"", "filename,Pizza,Ketch\nst1/100/a.JPG,1,1\nst1/100/c.JPG,0,0\nst2/100/a.JPG,0,1\n",
			[]string{"st1/100/a.JPG=Ketch;Pizza", "st1/100/c.JPG=", "st2/100/a.JPG=Ketch"}, ""},
		"addresses": {"", "image,label\nhttps://b.example/st1/100/a.JPG,Pizza\nhttps://b.example/st2/100/a.JPG,Ketch\n",
			both, ""},
		"addresses, the photo of one": {"st1", "image,label\nhttps://b.example/st1/100/a.JPG,Pizza\n" +
			"https://b.example/st2/100/c.JPG,Ketch\n", []string{"100/a.JPG=Pizza", "100/c.JPG=Ketch"}, ""},
		"addresses of one name": {"st1/100", "image,label\nhttps://b.example/st2/100/a.JPG,Ketch\n" +
			"https://b.example/st1/100/a.JPG,Pizza\nhttps://b.example/st1/100/c.JPG,Pizza\n",
			[]string{"c.JPG=Pizza"}, "a.JPG https://b.example/st1/100/a.JPG"},
	} {
		file := filepath.Join(t.TempDir(), "list.csv")
		must.Do(t, os.WriteFile(file, []byte(c.text), 0o644))
		l, err := ReadList(file, filepath.Join(root, c.below), ListOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, s := range l.Samples {
			got = append(got, s.Path+"="+cmp.Or(s.Label, s.Several))
		}
		wantEqual(t, name, got, c.want)
		var left []string
		for _, p := range l.Problems {
			left = append(left, p.Path)
		}
		wantEqual(t, name+", problems", left, strings.Fields(c.problems))
	}
}

// TestForeignDataPackage: observations of other tools name media by identifiers, and media.csv has their paths.
func TestForeignDataPackage(t *testing.T) {
	dir := tree(t, map[string]string{"media/a.JPG": "", "media/b.JPG": "",
		"media.csv": "mediaID,deploymentID,filePath\n0-1,d,media/a.JPG\n0-2,d,media/b.JPG\n",
		"observations.csv": "observationID,deploymentID,mediaID,observationType,scientificName\n" +
			"1,d,0-1,animal,fox\n2,d,0-2,animal,badger\n3,d,,animal,of an event\n"})
	for _, root := range []string{dir, filepath.Join(dir, "media")} {
		l := must.Get(ReadList(filepath.Join(dir, "observations.csv"), root, ListOptions{}))(t)
		got := strings.ReplaceAll(strings.Join(brief(l), " "), "media/", "")
		if got != "a.JPG=fox b.JPG=badger" {
			t.Errorf("%s: %s, %v", root, got, l.Problems)
		}
	}
}

// TestTrapper: the photos of TRAPPER's packages have addresses and names that repeat in every deployment, times without
// a colon in their zone, and NaN where nothing is known; its table of results has the location in a column.
func TestTrapper(t *testing.T) {
	const media = "https://t.example/storage/resource/media/"
	dir := tree(t, map[string]string{"c/R01/1.JPG": "", "c/R02/1.JPG": "", "c/R02/2.JPG": "", "c/R12/2.JPG": "",
		"media.csv": "mediaID,deploymentID,timestamp,filePath,fileName\n" +
			"7,r0001-R01,2024-05-01T10:00:00+0200," + media + "7/pfile/,1.JPG\n" +
			"8,r0001-R02,2024-05-02T10:00:00+0200," + media + "8/pfile/,1.JPG\n" +
			"9,r0001-R02,2024-05-02T10:00:05+0200," + media + "9/pfile/,2.JPG\n" +
			"10,r0001-R2,2024-05-02T10:00:05+0200," + media + "10/pfile/,2.JPG\n",
		"observations.csv": "observationID,deploymentID,mediaID,observationType,scientificName\n" +
			"1,r0001-R01,7,animal,Sus scrofa\n2,r0001-R02,8,animal,Vulpes vulpes\n" +
			"3,r0001-R02,9,unknown,NaN\n4,r0001-R2,10,animal,Lynx lynx\n",
		"events.csv": "observationID,deploymentID,mediaID,eventStart,eventEnd,observationType,scientificName\n" +
			"1,r0001-R02,,2024-05-02T10:00:00+0200,2024-05-02T10:00:09+0200,animal,Sus scrofa\n",
		"results.csv": "_id,name,deployment_id,location_id,species\n7,1.JPG,r0001-R01,R01,Sus scrofa\n" +
			"8,1.JPG,r0001-R02,R02,Vulpes vulpes\n"})
	for table, want := range map[string][]string{
		"observations.csv": {"c/R01/1.JPG=Sus scrofa", "c/R02/1.JPG=Vulpes vulpes", "c/R02/2.JPG="},
		"events.csv":       {"c/R02/1.JPG=Sus scrofa", "c/R02/2.JPG=Sus scrofa"},
	} {
		l := must.Get(ReadList(filepath.Join(dir, table), dir, ListOptions{}))(t)
		wantEqual(t, table, brief(l), want)
	}
	l := must.Get(ReadList(filepath.Join(dir, "results.csv"), filepath.Join(dir, "c"), ListOptions{}))(t)
	wantEqual(t, "results", brief(l), []string{"R01/1.JPG=Sus scrofa", "R02/1.JPG=Vulpes vulpes"})
	_, err := ReadList(filepath.Join(dir, "results.csv"), dir, ListOptions{})
	if err == nil || strings.Contains(err.Error(), "give images") {
		t.Errorf("a name that two photos have: %v", err)
	}
}

// TestObservationsOfEvents: in packages such as Agouti's, observations are of events, and paths are addresses: the
// photos are those of the deployment and time, found by name; a name that two photos have is none.
func TestObservationsOfEvents(t *testing.T) {
	const head = "observationID,deploymentID,mediaID,observationLevel,eventStart,eventEnd,observationType," +
		"scientificName\n"
	dir := tree(t, map[string]string{"d1/a.JPG": "", "d1/b.JPG": "", "d1/late.JPG": "", "c.JPG": "", "twice.JPG": "",
		"media.csv": "mediaID,deploymentID,timestamp,filePath,fileName\n" +
			"1,d1,2024-05-01T06:00:00Z,https://m.example/1/file,a.JPG\n" +
			"2,d1,2024-05-01T08:00:09+02:00,https://m.example/2/file,b.JPG\n" +
			"3,d1,2024-05-01T06:01:00Z,https://m.example/3/file,late.JPG\n" +
			"4,d2,2024-05-01T06:00:05Z,https://m.example/4/file,c.JPG\n" +
			"5,d2,2024-05-02T06:00:05Z,https://m.example/5/file,twice.JPG\n" +
			"6,d3,2024-05-02T06:00:05Z,https://m.example/6/file,twice.JPG\n",
		"observations.csv": head + "1,d1,,event,2024-05-01T06:00:00Z,2024-05-01T06:00:09Z,animal,fox\n" +
			"2,d2,,event,2024-05-01T06:00:00Z,2024-05-01T06:00:09Z,blank,\n" +
			"3,d2,,event,2024-05-02T06:00:00Z,2024-05-02T06:00:09Z,animal,deer\n" +
			"4,d4,,event,2024-05-02T06:00:00Z,2024-05-02T06:00:09Z,animal,deer\n"})
	l := must.Get(ReadList(filepath.Join(dir, "observations.csv"), dir, ListOptions{}))(t)
	wantEqual(t, "samples", brief(l), []string{"c.JPG=blank", "d1/a.JPG=fox", "d1/b.JPG=fox"})
	var problems []string
	for _, p := range l.Problems {
		problems = append(problems, p.Path)
	}
	wantEqual(t, "problems", problems, []string{"event 2024-05-02T06:00:00Z of d4", "https://m.example/5/file"})
	must.Do(t, os.Remove(filepath.Join(dir, "media.csv")))
	if _, err := ReadList(filepath.Join(dir, "observations.csv"), dir, ListOptions{}); err == nil ||
		!strings.Contains(err.Error(), "there is no media.csv") {
		t.Error(err)
	}
}
