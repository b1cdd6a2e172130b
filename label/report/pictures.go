package report

import (
	"cmp"
	"encoding/base64"
	"html/template"
	"math"
	"slices"
	"strconv"
)

// worthNaming is the smallest probability of a runner-up class that is shown.
const worthNaming = 0.0005

// pictures holds the pictures in the order in which a person should see them.
type pictures struct {
	Groups      []group
	Shown, Left int
	HasTruth    bool
}

// group is a heading and its cards. Left counts the cards that did not fit.
type group struct {
	ID, Title, Hint string
	New             bool
	Cards           []card
	Left            int
}

// card is one picture as shown.
type card struct {
	Path, Predicted, Truth string
	Source                 template.URL
	Original               string
	NoPicture              string // why Source is empty
	Probability, Bar       string
	Novelty                string // shown instead of the probability if the picture is rejected
	Runners                []runner
	Details                string
	State                  string // wrong or right, "" if the truth is unknown
	Rejected, Uncertain    bool
}

// runner is a runner-up class.
type runner struct{ Label, Probability string }

// newPictures sorts the predictions into groups: rejected, uncertain, then one
// group per class, and cuts them to the page's limit.
func newPictures(p Page) pictures {
	groups := groupPredictions(p)
	shares := allot(groups, p.maxThumbnails())
	seen := p.census()
	known, sizes, novelty := seen.known, seen.groups, seen.noveltyScale(p.Threshold)
	g := pictures{HasTruth: slices.ContainsFunc(p.Predictions, func(q Prediction) bool { return q.Truth != "" })}
	for i, members := range groups {
		if len(members.predictions) == 0 {
			continue
		}
		out := members.group
		out.Left = sizes[members.name] - shares[i]
		for _, q := range members.predictions[:shares[i]] {
			out.Cards = append(out.Cards, newCard(q, known, novelty, members.name == uncertain))
		}
		g.Shown, g.Left = g.Shown+shares[i], g.Left+out.Left
		g.Groups = append(g.Groups, out)
	}
	return g
}

// members is a group before it is cut.
type members struct {
	name        string // as groupOf returns it
	group       group
	predictions []Prediction
}

// groupPredictions always returns rejected and uncertain first, even empty.
func groupPredictions(p Page) []members {
	groups := []members{
		{name: rejected, group: group{ID: "rejected", Title: "Rejected: probably none of the classes",
			Hint: "Most novel first. If several are of one kind, name it and let the model learn it."}},
		{name: uncertain, group: group{ID: "uncertain", Title: "Uncertain",
			Hint: "The top two classes are close; closest first. A label here teaches the model most."}},
	}
	index := map[string]int{rejected: 0, uncertain: 1}
	add := func(name string, c Class) {
		if _, twice := index[name]; !twice {
			index[name] = len(groups)
			groups = append(groups, members{name: name,
				group: group{ID: "class-" + strconv.Itoa(len(groups)-1), Title: showName(c.Name), New: c.New}})
		}
	}
	for _, c := range p.Classes {
		add("class "+c.Name, c)
	}
	for _, q := range p.Predictions {
		name := p.groupOf(q)
		add(name, Class{Name: q.Predicted})
		m := &groups[index[name]]
		m.predictions = append(m.predictions, q)
	}
	for _, m := range groups {
		sortGroup(m.name, m.predictions)
	}
	return groups
}

// sortGroup sorts a group for viewing: rejected pictures by novelty, uncertain
// ones by smallest margin, classes by confidence with the mistakes first.
func sortGroup(name string, predictions []Prediction) {
	slices.SortStableFunc(predictions, func(a, b Prediction) int {
		order := cmp.Or(mistaken(b)-mistaken(a), cmp.Compare(b.Probability, a.Probability))
		switch name {
		case rejected:
			order = cmp.Compare(b.Novelty, a.Novelty)
		case uncertain:
			order = cmp.Compare(a.Margin, b.Margin)
		}
		return cmp.Or(order, cmp.Compare(a.Path, b.Path))
	})
}

// mistaken returns 1 if a prediction is known to be wrong, otherwise 0.
func mistaken(q Prediction) int {
	if q.Truth != "" && q.Truth != q.Predicted {
		return 1
	}
	return 0
}

// allot divides the limit on cards among the groups: up to half goes to
// rejected and uncertain pictures (more if the classes do not need it), the
// rest to the classes.
func allot(groups []members, limit int) []int {
	sizes := make([]int, len(groups))
	inClasses := 0
	for i, m := range groups {
		sizes[i] = len(m.predictions)
		if i >= 2 {
			inClasses += sizes[i]
		}
	}
	first := fairShares(sizes[:2], max(limit/2, limit-inClasses))
	return append(first, fairShares(sizes[2:], limit-first[0]-first[1])...)
}

// fairShares divides capacity equally among the groups; what small groups do
// not need goes to the others.
func fairShares(sizes []int, capacity int) []int {
	out := make([]int, len(sizes))
	for capacity > 0 {
		hungry := 0
		for i := range sizes {
			if out[i] < sizes[i] {
				hungry++
			}
		}
		if hungry == 0 {
			break
		}
		each := max(1, capacity/hungry)
		for i := range sizes {
			more := min(each, sizes[i]-out[i], capacity)
			out[i], capacity = out[i]+more, capacity-more
		}
	}
	return out
}

func newCard(q Prediction, known map[string]bool, novelty scale, uncertain bool) card {
	c := card{
		Path: showName(q.Path), Predicted: showName(q.Predicted), Truth: showName(q.Truth),
		Source: dataURI("image/jpeg", q.Thumbnail), NoPicture: showName(cmp.Or(q.NoPicture, "no preview")),
		Probability: percent(q.Probability), Bar: barWidth(q.Probability), Novelty: figure(q.Novelty),
		Original: showName(q.Original),
		State:    correctness(q, known), Rejected: q.Rejected, Uncertain: uncertain,
		Details: "novelty " + figure(q.Novelty),
	}
	if q.Rejected && isNumber(q.Novelty) {
		c.Bar = barWidth(novelty.share(q.Novelty))
	}
	if !q.Rejected {
		c.Details = "margin " + percent(q.Margin) + ", entropy " + figure(q.EntropyNats) + " nats, " + c.Details
	}
	for _, r := range q.TopK {
		if r.Label != q.Predicted && r.Probability >= worthNaming && len(c.Runners) < 2 {
			c.Runners = append(c.Runners, runner{showName(r.Label), percent(r.Probability)})
		}
	}
	return c
}

// correctness compares a prediction with the truth: an image of a known class
// must be labelled so, one of an unknown class must be rejected.
func correctness(q Prediction, known map[string]bool) string {
	right := q.Truth == q.Predicted && !q.Rejected
	if !known[q.Truth] {
		right = q.Rejected
	}
	switch {
	case q.Truth == "":
		return ""
	case right:
		return "right"
	default:
		return "wrong"
	}
}

// dataURI embeds the picture itself. Base64 contains nothing that could end the
// attribute, which is what makes the conversion safe.
func dataURI(kind string, picture []byte) template.URL {
	if len(picture) == 0 {
		return ""
	}
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(picture))
}

// isNumber reports whether v can be shown and compared.
func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// A selection takes the predictions of a run one by one and retains those that
// the page can show, and counts all. Memory is bounded by the page's limit and
// the number of classes, plus 12 bytes for each prediction.
type selection struct {
	page   Page
	groups map[string][]Prediction // by groupOf
	seen   *census
}

// newSelection returns a selection for a page with p's classes and limits.
func newSelection(p Page) *selection {
	p.Predictions = nil
	return &selection{page: p, groups: map[string][]Prediction{}, seen: newCensus(p.Classes)}
}

// add takes one prediction.
func (s *selection) add(q Prediction) {
	name := s.page.groupOf(q)
	s.seen.add(name, q)
	s.groups[name] = append(s.groups[name], q)
	if all, most := s.groups[name], s.most(name); len(all) >= 2*most {
		sortGroup(name, all)
		clear(all[most:])
		s.groups[name] = all[:most]
	}
}

// most returns how many predictions of a group to retain. A class gets several
// times its fair share of the page, since others may not need theirs.
func (s *selection) most(name string) int {
	limit := s.page.maxThumbnails()
	if name == rejected || name == uncertain {
		return limit
	}
	return min(limit, 50+4*limit/max(1, len(s.page.Classes)))
}

// fill puts the selected predictions into a page with the same classes and
// limits. load adds the Thumbnail to a few of them at a time. One without a
// picture (NoPicture) gives way to the next in its group, and is shown only if
// there is no other.
func (s *selection) fill(p *Page, load func([]Prediction) error) error {
	all := s.page
	for _, group := range s.groups {
		all.Predictions = append(all.Predictions, group...)
	}
	groups := groupPredictions(all)
	shares := allot(groups, all.maxThumbnails())
	p.Predictions, p.seen = nil, s.seen
	for i, m := range groups {
		var shown, blank []Prediction
		for rest := m.predictions; len(shown) < shares[i] && len(rest) > 0; {
			next := rest[:min(shares[i]-len(shown), len(rest))]
			rest = rest[len(next):]
			if err := load(next); err != nil {
				return err
			}
			for _, q := range next {
				if q.NoPicture == "" {
					shown = append(shown, q)
				} else {
					blank = append(blank, q)
				}
			}
		}
		p.Predictions = append(p.Predictions, append(shown, blank[:min(shares[i]-len(shown), len(blank))]...)...)
	}
	return nil
}
