package serve

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/dataset"
)

// TestBoxesAndEvents: every box is an image with a place on its photo and a picture of its
// own; events have those of their photos; the table has where they are.
func TestBoxesAndEvents(t *testing.T) {
	s := newSite(t, func(o *Options) {
		o.Events = true
		photos := o.Scan
		o.Scan = func(ctx context.Context) ([]dataset.Sample, error) {
			samples, err := photos(ctx)
			var boxes []dataset.Sample
			for _, sample := range samples {
				for n, category := range []string{"animal", "person"} {
					b := &dataset.Box{Number: n + 1, X: 0.5 * float64(n), W: 0.5, H: 1, Category: category,
						Confidence: 0.75, Kept: n == 1}
					boxes = append(boxes, b.In(sample))
				}
			}
			return boxes, err
		}
		o.Boxed = func() dataset.BoxesFound {
			return dataset.BoxesFound{Photos: make([]dataset.BoxedPhoto, 31), Boxes: 62}
		}
	})
	for i := range 4 {
		s.write(fmt.Sprintf("photos/cam0/IMG_20250614_1011%02d.jpg", 9-i), fmt.Sprintf("IMG 1 event %d", i))
	}
	s.until(func(a statusAnswer) bool { return a.Images.Embedded == 68 && a.Images.Seen == 68 })
	if now := s.server.newStatus(); now.Account.Decided.Detector != 34 || *now.Boxes != (boxedPhotos{31, 62, 31, 0}) {
		t.Errorf("%+v %+v", now.Account, now.Boxes)
	}
	var all listing
	s.get("/v1/images?folder=cam0&q=IMG_&events=true&view=start", &all)
	if len(all.Images) != 1 || all.Images[0].Event == nil {
		t.Fatalf("%+v", all)
	}
	one := all.Images[0]
	if e := one.Event; one.Name != "IMG_20250614_101106.jpg#1" || e.Size != 4 || e.Photos != 4 || e.Open != 4 ||
		*e.End != "2025-06-14T10:11:09" || *one.Shot.Time != "2025-06-14T10:11:06" {
		t.Errorf("%s %+v", one.Name, e)
	}
	s.get("/v1/images?event="+one.ID.String(), &all)
	if len(all.Images) != 8 || all.Images[1].Name != "IMG_20250614_101106.jpg#2" ||
		*all.Images[1].By != "detector" || *all.Images[1].Box != (box{2, 0.5, 0, 0.5, 1, "person", 0.75}) {
		t.Errorf("in the event are %d: %+v", len(all.Images), all.Images[1])
	}
	if s.get("/v1/images?beside="+one.ID.String(), &all); all.Total != 2 {
		t.Errorf("%d boxes on a photo of two", all.Total)
	}
	for kind, want := range map[string]string{"thumb": "box 0,0,0.5,1", "photo": "JPEG 2048"} {
		if code, body := s.send(s.request("GET", "/v1/images/"+one.ID.String()+"/"+kind, "", "")); code != 200 ||
			!strings.Contains(string(body), want) || kind == "photo" && strings.Contains(string(body), "box") {
			t.Errorf("%s: %d %s", kind, code, body)
		}
	}
	_, table := s.send(s.request("GET", "/v1/labels.csv?all=1", "", ""))
	for _, row := range []string{"path,label,by,probability,novelty,rejected,box\n",
		"cam0/IMG_20250614_101106.jpg#2,person,detector,0.75,,false,\"0.5,0,0.5,1\"\n"} {
		if !strings.Contains(string(table), row) {
			t.Errorf("no %q in %.200s", row, table)
		}
	}
	s.get("/v1/classes", nil)
}
