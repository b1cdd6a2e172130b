package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPhotosSayWhen: date, camera and place of EXIF, and the time in a name, are in the API
// soon after a photo was found, and at once where it is asked for alone.
func TestPhotosSayWhen(t *testing.T) {
	s := newSite(t, nil)
	s.loaded(30)
	for name, from := range map[string]string{"IMG_20250614_101112.jpg": "", "placed.jpg": "placed-a.jpg",
		"full.jpg": "full-a.jpg"} {
		exif := []byte(name)
		if from != "" {
			var err error
			if exif, err = os.ReadFile(filepath.Join("..", "preprocess", "photometa", "testdata", from)); err != nil {
				t.Fatal(err)
			}
		}
		s.write("photos/told/"+name, "IMG 1 "+string(exif))
	}
	s.until(func(a statusAnswer) bool { return a.Images.Embedded == 33 && a.Images.Seen == 33 })
	var all listing
	s.get("/v1/images?order=time&folder=told", &all)
	shots := map[string]*taken{}
	for _, one := range all.Images {
		shots[one.Name] = one.Shot
	}
	if all.Images[2].Name != "placed.jpg" || all.Untimed != 1 {
		t.Errorf("%d without a time; the last one is %s", all.Untimed, all.Images[2].Name)
	}
	if at := shots["IMG_20250614_101112.jpg"].Time; at == nil || *at != "2025-06-14T10:11:12" {
		t.Errorf("by its name: %v", at)
	}
	full := shots["full.jpg"]
	if full.Time == nil || *full.Time != "2025-03-30T02:59:58.25+01:00" || *full.Camera != "HC600 S/N 007" {
		t.Errorf("%+v", full)
	}
	at := shots["placed.jpg"].Place
	if at == nil || int(1000*at.Latitude) != -33859 || int(1000*at.Longitude) != 151210 {
		t.Errorf("%+v", at)
	}
	for query, n := range map[string]int{"since=2025-06-14&taken_until=2025-06-14": 1, "until=2025-03-30T02:59": 0,
		"until=2025-03-30T03:00": 1, "since=2025-03-30": 2} {
		if s.get("/v1/images?folder=told&taken_"+query, &all); all.Total != n || all.Untimed != 1 {
			t.Errorf("taken_%s: %d photos, want %d; %d without a time", query, all.Total, n, all.Untimed)
		}
	}
	for _, wrong := range []string{"order=size", "taken_since=14.6.2025", "until=2025-06-14T25:00"} {
		if code, body := s.send(s.request("GET", "/v1/images?"+wrong, "", "")); code != 400 ||
			!strings.Contains(string(body), strings.Split(wrong, "=")[0]+" is ") {
			t.Errorf("%s: %d %s", wrong, code, body)
		}
	}
}
