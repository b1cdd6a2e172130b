package serving

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// A story is what one of the three people of docs/serve-design.md does with a folder
// of photos, of which a fifth is held out to measure the model.
type story struct {
	*commandtest.Bed
	photos, held string            // folders; photos has no subfolders
	truth        map[string]string // class of each file of photos
	common       []string          // flags of every command
	budget       int               // labels
	began        time.Time
}

// TestStories: each of the three reaches 95 % of the accuracy that all labels would
// give with at most a quarter of the labels. The photos are drawn; with
// PIPELINE_STORIES=n they are those of the first n classes of the test photos of
// mini-ImageNet.
func TestStories(t *testing.T) {
	if testing.Short() {
		t.Skip("three people work for minutes")
	}
	user := must.Get(os.UserCacheDir())(t)
	l := commandtest.New(t)
	s := &story{Bed: l, photos: l.Path("photos"), held: l.Path("held"), truth: map[string]string{}}
	if commandtest.Wanted.Stories > 0 {
		s.common = []string{"--backbone", shared.Path(t, "models", "vit_tiny_patch16_224.onnx")}
		s.take(shared.Path(t, "data", "mini_imagenet", "test"), commandtest.Wanted.Stories)
		// embedding them takes minutes
		must.Do(t, os.Symlink(filepath.Join(user, "pipeline"), l.Path("cache")))
	} else {
		s.take(l.Photos(l.Path("drawn"), 32, 60, "bee", "cat", "deer", "elk", "fox", "goat"), 6)
	}
	s.budget = len(s.truth) / 4
	all := s.model("all", s.truth)
	best := s.accuracy(all)
	t.Logf("%d photos; with all labels accuracy %.1f %%", len(s.truth), 100*best)
	for _, person := range []struct {
		name string
		live func(*story) ending
	}{
		{"biologist", (*story).biologist},
		{"shop", (*story).shop},
		{"curator", (*story).curator},
	} {
		t.Run(person.name, func(t *testing.T) {
			mine := *s
			mine.Bed, mine.began = l.With(t), time.Now()
			r := person.live(&mine)
			t.Logf("%d labels, accuracy %.1f %%, %.1f %% of that with all labels; of %d accepted at once %d are "+
				"right; %.1f minutes",
				r.labels, 100*r.accuracy, 100*r.accuracy/best, r.accepted, r.right, time.Since(mine.began).Minutes())
			if r.labels > s.budget || r.accuracy < 0.95*best {
				t.Errorf("the goal is at most %d labels and at least %.1f %%", s.budget, 95*best)
			}
		})
	}
}

// take divides the photos of the first n folders, which are classes: a fifth of each is held
// out, the others lie together in one folder.
func (s *story) take(source string, n int) {
	s.Helper()
	folders := must.Get(os.ReadDir(source))(s)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, folder := range folders[:min(n, len(folders))] {
		class := folder.Name()
		files := must.Get(os.ReadDir(filepath.Join(source, class)))(s)
		for i, at := range rng.Perm(len(files)) {
			name := files[at].Name()
			data := s.Read(source, class, name)
			if i < len(files)/5 {
				s.Write(filepath.Join(s.held, class, name), data)
				continue
			}
			name = class + "-" + name
			s.truth[name] = class
			s.Write(filepath.Join(s.photos, name), data)
		}
	}
}

// An ending is how a story ended.
type ending struct {
	labels, accepted, right int
	accuracy                float64
}

// model trains a model with some labels.
func (s *story) model(name string, labels map[string]string) string {
	s.Helper()
	var list strings.Builder
	list.WriteString("path,label\n")
	for _, file := range slices.Sorted(maps.Keys(labels)) {
		fmt.Fprintf(&list, "%s,%s\n", file, labels[file])
	}
	s.Write(s.Path(name+".csv"), []byte(list.String()))
	model := s.Path(name + ".model")
	s.Must(append([]string{"train", "--images", s.photos, "--list", s.Path(name + ".csv"), "--out", model},
		s.common...)...)
	return model
}

// accuracy returns that of a model on the photos held out.
func (s *story) accuracy(model string) float64 {
	s.Helper()
	s.Must("eval", model, "--images", s.held, "--json", s.Path("eval.json"))
	r := s.Object(s.Path("eval.json"))
	n, unknown := r["n"].(float64), r["n_unknown"].(float64)
	return r["accuracy"].(float64) * n / (n + unknown) // a class that was never named counts as wrong
}

// sits starts the server of a model and sits down before its page.
func (s *story) sits(model, photos string) (*served, *person) {
	s.Helper()
	server := serve(s.Bed, len(s.truth), append([]string{model, "--images", photos}, s.common...)...)
	return server, server.sit(s.truth)
}

// leaves ends the server, which writes the model, and measures it.
func (s *story) leaves(server *served, p *person, labels int) ending {
	s.Helper()
	end := ending{labels: labels}
	for _, row := range p.exported() {
		if row[2] == "bulk" {
			end.accepted++
			if p.truth[filepath.Base(row[0])] == row[1] {
				end.right++
			}
		}
	}
	must.Do(s, server.cmd.Process.Signal(os.Interrupt))
	if err := server.cmd.Wait(); err != nil {
		s.Fatalf("%v: %s", err, server.stderr)
	}
	end.accuracy = s.accuracy(server.model)
	return end
}

// biologist begins without a model: names five photos and then goes where the page's
// advice leads.
func (s *story) biologist() ending {
	server, p := s.sits(s.Path("biologist.model"), s.photos)
	for range 5 {
		p.answer(p.current())
	}
	p.follows(s.budget)
	p.acceptsMany()
	return s.leaves(server, p, p.used())
}

// shop begins with a model of half of the products, of five photos each. A photo of
// another product is dropped on the page, and what it resembles is named, first with
// a slip.
func (s *story) shop() ending {
	known, count := map[string]string{}, map[string]int{}
	classes := slices.Sorted(maps.Values(s.truth))
	middle := classes[len(classes)/2]
	for _, file := range slices.Sorted(maps.Keys(s.truth)) {
		if class := s.truth[file]; class < middle && count[class] < 5 {
			known[file], count[class] = class, count[class]+1
		}
	}
	server, p := s.sits(s.model("shop", known), s.photos)
	dropped := must.Get(filepath.Glob(filepath.Join(s.held, middle, "*")))(s)
	p.page.Drop("#scroller", dropped[0])
	p.page.Wait(`document.getElementById("heading").textContent.startsWith("Similar to")`)
	p.settles()
	now := p.look()
	p.together(now, middle, middle+" slip", len(now.Tiles))
	p.page.Click("[data-view=class]")
	slip := "#class-list [data-name='" + middle + " slip']"
	p.settles()
	p.page.Click(slip)
	p.page.Wait("document.getElementById('heading').textContent === '" + middle + " slip'")
	p.rename(middle)
	p.follows(s.budget - len(known))
	p.acceptsMany()
	return s.leaves(server, p, len(known)+p.used())
}

// curator begins with a model of all labels, a twentieth of them wrong, and looks at
// those that the page doubts.
func (s *story) curator() ending {
	dirty, wrong := s.Path("dirty"), 0
	classes := slices.Compact(slices.Sorted(maps.Values(s.truth)))
	for i, file := range slices.Sorted(maps.Keys(s.truth)) {
		class := s.truth[file]
		if i%20 == 7 {
			class = classes[(slices.Index(classes, class)+1+i/20%(len(classes)-1))%len(classes)]
			wrong++
		}
		s.Write(filepath.Join(dirty, class, file), s.Read(s.photos, file))
	}
	model := s.Path("curator.model")
	s.Must(append([]string{"train", "--images", dirty, "--out", model}, s.common...)...)
	s.Logf("with %d wrong labels accuracy %.1f %%", wrong, 100*s.accuracy(model))
	server, p := s.sits(model, dirty)
	p.open("suspicious", "Maybe mislabelled")
	corrected := 0
	for p.used() < s.budget {
		p.settles()
		now := p.look()
		if len(now.Tiles) == 0 {
			break
		}
		for range now.Tiles {
			t := p.current()
			if p.truth[t.Name] != t.What {
				corrected++
			}
			p.answer(t)
		}
	}
	s.Logf("%d of %d wrong labels corrected", corrected, wrong)
	return s.leaves(server, p, p.used())
}

// follows takes the page's advice until it says that more labels change little, or
// until one more screen of photos could exceed the budget.
func (p *person) follows(budget int) {
	p.Helper()
	const screenful = 20
	last, idle := -1, 0
	for {
		p.settles()
		now, used := p.look(), p.used()
		if used/200 != last {
			last = used / 200
			p.Logf("%s; %s", now.Quality, now.Advice)
		}
		if used+screenful > budget || strings.Contains(now.Advice, "more labels change little") ||
			strings.Contains(now.Advice, "Every photo has a label") {
			return
		}
		if strings.Contains(now.Advice, "accept the") {
			p.acceptsMany()
			continue
		}
		if now.Guide {
			p.page.Click("#follow")
			p.settles()
		} else if strings.Contains(strings.ToLower(now.Heading), "unknown") { // the advice is over here
			p.page.Click("[data-view=unknown]")
			p.settles()
		} else {
			p.open("check", "To check")
		}
		p.works()
		if p.used() > used {
			idle = 0
		} else if idle++; idle == 3 {
			p.Fatalf("the page leads nowhere: %+v", p.look())
		}
	}
}

// works does what the view in front of the person asks for.
func (p *person) works() {
	p.Helper()
	now := p.look()
	switch {
	case len(now.Groups) > 0:
		p.groups(now)
	case now.Heading == "Similar photos": // to the first
		p.page.Click("#nothing")
		class := p.truth[now.Tiles[0].Name]
		if !p.together(now, class, class, 5) {
			p.page.Press("ArrowRight")
			p.answer(p.current())
		}
	default:
		for range now.Tiles {
			p.answer(p.current())
		}
	}
}

// together selects up to n photos in sight that show a class, and names them as one.
func (p *person) together(now screen, class, name string, n int) bool {
	p.Helper()
	var files []string
	for _, t := range now.Tiles {
		if p.truth[t.Name] == class && t.Sure != "by you" && len(files) < n {
			files = append(files, t.Name)
		}
	}
	if len(files) > 0 {
		p.choose(files...)
		p.name(name)
	}
	return len(files) > 0
}

// groups names the first group of which at least half of the photos in sight show
// the same, without those that show something else. If there is none, it names one
// photo.
func (p *person) groups(now screen) {
	p.Helper()
	for _, g := range now.Groups {
		class, n := p.most(g.Files)
		if 2*n < len(g.Files) {
			continue
		}
		if strings.HasPrefix(g.All, "See all") {
			if p.single(g) && !p.together(p.look(), class, class, 5) {
				p.answer(p.current())
			}
			return
		}
		for _, file := range g.Files {
			if p.truth[file] != class {
				p.page.Click(fmt.Sprintf(".group:has(%s) img[alt='%s']", g.Name, file))
			}
		}
		p.page.Click(g.Name + " input")
		p.name(class)
		return
	}
	if p.single(now.Groups[0]) {
		p.answer(p.current())
	}
}

// single shows a group photo by photo, unless the groups have just changed.
func (p *person) single(g pile) bool {
	p.Helper()
	p.page.Click(fmt.Sprintf(".group:has(%s) .row > button", g.Name))
	p.settles()
	return p.look().Heading == "A group of unknown photos"
}

// most returns the class that most of the files show.
func (p *person) most(files []string) (class string, n int) {
	count := map[string]int{}
	for _, file := range files {
		if count[p.truth[file]]++; count[p.truth[file]] > n {
			class, n = p.truth[file], count[p.truth[file]]
		}
	}
	return class, n
}
