package serve

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/teach"
)

// entry is what is answered about one photo.
type entry struct {
	ID, Name, Label, Error string
}

// TestEachPhotoHasItsOwnAnswer: what cannot be read among several photos takes none of the others with it.
func TestEachPhotoHasItsOwnAnswer(t *testing.T) {
	s := newSite(t, nil)
	s.teach(s.loaded(30)[:15])
	photos := make([]string, maxPhotos)
	for i := range photos {
		photos[i] = fmt.Sprintf("IMG %d %d", i%3, i)
	}
	for name, c := range map[string]struct {
		photos  []string
		damaged map[int]bool
	}{
		"a damaged one":  {replaced(photos, map[int]string{17: "no photo"}), map[int]bool{17: true}},
		"an empty first": {replaced(photos, map[int]string{0: ""}), map[int]bool{0: true}},
		"all damaged":    {[]string{"no photo", "", "no photo either"}, map[int]bool{0: true, 1: true, 2: true}},
		"one, damaged":   {[]string{"no photo"}, map[int]bool{0: true}},
	} {
		t.Run(name, func(t *testing.T) {
			kind, body := form(c.photos...)
			var answer struct{ Images []entry }
			s.into(s.request("POST", "/v1/label", kind, body), &answer)
			if len(answer.Images) != len(c.photos) {
				t.Fatalf("%d answers to %d photos", len(answer.Images), len(c.photos))
			}
			for i, e := range answer.Images {
				if (e.Error != "") != c.damaged[i] || (e.Label != "") == c.damaged[i] || len(e.ID) != 64 ||
					e.Name != fmt.Sprintf("%d.jpg", i) {
					t.Errorf("photo %d: %+v", i, e)
				}
				if want := fmt.Sprintf("class %d", i%3); !c.damaged[i] && e.Label != want {
					t.Errorf("photo %d is %q, not %q", i, e.Label, want)
				}
			}
		})
	}
	kind, body := form(photos...)
	if code, _ := s.send(s.request("POST", "/v1/label", kind, body[:len(body)/2])); code != http.StatusBadRequest {
		t.Errorf("half of a form: %d", code)
	}
	if code, _ := s.send(s.request("POST", "/v1/label", kind, "--x--")); code != http.StatusBadRequest {
		t.Errorf("a form without photos: %d", code)
	}
}

func replaced(photos []string, by map[int]string) []string {
	out := append([]string{}, photos...)
	for i, photo := range by {
		out[i] = photo
	}
	return out
}

// TestLearnSaysWhatItCannotRead: the others are taught in one step; of photos that all cannot be read,
// nothing is taught.
func TestLearnSaysWhatItCannotRead(t *testing.T) {
	s := newSite(t, nil)
	s.teach(s.loaded(30)[:15])
	kind, body := form("IMG 1 new", "no photo", "IMG 1 newer")
	var done struct {
		Step   struct{ Images int }
		Failed []entry
	}
	s.into(s.request("POST", "/v1/learn?class=class%201", kind, body), &done)
	if done.Step.Images != 2 || len(done.Failed) != 1 || done.Failed[0].Name != "1.jpg" || done.Failed[0].Error == "" {
		t.Errorf("%+v", done)
	}
	kind, body = form("no photo", "")
	code, text := s.send(s.request("POST", "/v1/learn?class=class%201", kind, body))
	if code != http.StatusUnprocessableEntity || !strings.Contains(string(text), "none of the 2 photos") {
		t.Errorf("%d %s", code, text)
	}
	taught := 0
	for _, step := range s.server.Session.History(0, 100) {
		if step.Do == teach.Learn {
			taught++
		}
	}
	if taught != 1 {
		t.Errorf("%d steps taught", taught)
	}
}

// TestFormatsOfRequests: photos of requests have the formats that are allowed, whatever those of the folder
// have, and nothing decodes the others.
func TestFormatsOfRequests(t *testing.T) {
	s := newSite(t, func(o *Options) { o.Formats = []string{"png", "webp"} })
	s.teach(s.loaded(30)[:15])
	photos := []string{"\xff\xd8\xff JPEG", "\x89PNG\r\n\x1a\n", "IMG 0 0", "RIFF\x00\x00\x00\x00WEBP"}
	kind, body := form(photos...)
	var answer struct{ Images []entry }
	s.into(s.request("POST", "/v1/label", kind, body), &answer)
	if len(answer.Images) != len(photos) {
		t.Fatalf("%d answers to %d photos", len(answer.Images), len(photos))
	}
	for i, want := range []string{"this is jpeg, and serve.formats allows png, webp", "", "the content is not", ""} {
		e := answer.Images[i]
		if want == "" && strings.Contains(e.Error, "serve.formats") || !strings.Contains(e.Error, want) ||
			e.ID != cache.HashOf([]byte(photos[i])).String() {
			t.Errorf("photo %d: %+v", i, e)
		}
	}
	if code, text := s.send(s.request("POST", "/v1/label", "image/jpeg", photos[0])); code !=
		http.StatusUnprocessableEntity || !strings.Contains(string(text), "serve.formats") {
		t.Errorf("alone: %d %s", code, text)
	}
	c := DefaultConfig()
	c.Formats = []string{"jpg"}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "jpeg, png") {
		t.Error(err)
	}
}
