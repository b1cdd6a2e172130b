package serve

import (
	"fmt"
	"net/http"
	"testing"
)

// TestUnknownPhotosAreNotAccepted: what the server says it would accept, and what it then
// accepts, has no photo that it lists as unknown, however probable a class is.
func TestUnknownPhotosAreNotAccepted(t *testing.T) {
	s := newSite(t, nil)
	for i := range 90 {
		s.write(fmt.Sprintf("photos/cam2/%02d.jpg", i), fmt.Sprintf("IMG %d %d of many", i%3, i))
	}
	for i := range 12 {
		s.write(fmt.Sprintf("photos/new/%02d.jpg", i), fmt.Sprintf("IMG %d stranger", 3+i))
	}
	photos := s.loaded(132)
	s.teach(photos[:90])

	var unknown, all listing
	s.get("/v1/images?view=unknown&limit=200", &unknown)
	sure := 1.0
	for _, p := range unknown.Images {
		sure = min(sure, p.Prediction[0].Probability)
	}
	s.get("/v1/images?decided=false&limit=200", &all)
	known := 0
	for _, p := range all.Images {
		if !p.Unknown && p.Prediction[0].Probability >= sure {
			known++
		}
	}
	if len(unknown.Images) == 0 || known == 0 {
		t.Fatalf("%d photos look unknown, %d do not: nothing to tell apart", len(unknown.Images), known)
	}
	var outlook struct{ Images int }
	if s.get(fmt.Sprintf("/v1/accept?above=%v", sure), &outlook); outlook.Images != known {
		t.Errorf("%d photos are to be accepted, want %d", outlook.Images, known)
	}
	var done struct{ Step step }
	if s.post("/v1/accept", map[string]any{"above": sure}, &done); done.Step.Images != known {
		t.Errorf("%d photos were accepted, want %d", done.Step.Images, known)
	}
	var still listing
	if s.get("/v1/images?view=unknown&limit=200", &still); still.Total != unknown.Total {
		t.Errorf("%d photos look unknown after accepting, %d did before", still.Total, unknown.Total)
	}
	if code, body := s.send(s.request("POST", "/v1/accept", "application/json",
		fmt.Sprintf(`{"above":%v}`, sure))); code != http.StatusConflict {
		t.Errorf("when only unknown photos are left: %d %s", code, body)
	}
}
