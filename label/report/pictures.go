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
	known := knownNames(p.Classes)
	g := pictures{HasTruth: slices.ContainsFunc(p.Predictions, func(q Prediction) bool { return q.Truth != "" })}
	for i, members := range groups {
		if len(members.predictions) == 0 {
			continue
		}
		out := members.group
		out.Left = members.size(p) - shares[i]
		for _, q := range members.predictions[:shares[i]] {
			out.Cards = append(out.Cards, newCard(q, known, p.uncertainMargin()))
		}
		g.Shown, g.Left = g.Shown+shares[i], g.Left+out.Left
		g.Groups = append(g.Groups, out)
	}
	return g
}

// members is a group before it is cut.
type members struct {
	group       group
	predictions []Prediction
}

// size returns the number of the group's predictions, including those that a
// Selection dropped.
func (m members) size(p Page) int {
	if p.totals == nil || len(m.predictions) == 0 {
		return len(m.predictions)
	}
	return p.totals[groupName(m.predictions[0], p.uncertainMargin())]
}

// groupPredictions always returns rejected and uncertain first, even empty.
func groupPredictions(p Page) []members {
	groups := []members{
		{group: group{ID: "rejected", Title: "Rejected: probably none of the classes", Hint: "Most novel first. If several are of one kind, name it and let the model learn it."}},
		{group: group{ID: "uncertain", Title: "Uncertain", Hint: "The top two classes are close; closest first. A label here teaches the model most."}},
	}
	index := map[string]int{}
	add := func(c Class) {
		index[c.Name] = len(groups)
		groups = append(groups, members{group: group{ID: "class-" + strconv.Itoa(len(groups)-1), Title: showName(c.Name), New: c.New}})
	}
	for _, c := range p.Classes {
		if _, twice := index[c.Name]; !twice {
			add(c)
		}
	}
	for _, q := range p.Predictions {
		if _, known := index[q.Predicted]; !known && !q.Rejected && !uncertain(q, p.uncertainMargin()) {
			add(Class{Name: q.Predicted})
		}
		at := groupOf(q, index, p.uncertainMargin())
		groups[at].predictions = append(groups[at].predictions, q)
	}
	sortGroups(groups)
	return groups
}

func groupOf(q Prediction, index map[string]int, margin float64) int {
	switch {
	case q.Rejected:
		return 0
	case uncertain(q, margin):
		return 1
	default:
		return index[q.Predicted]
	}
}

func uncertain(q Prediction, margin float64) bool { return !q.Rejected && q.Margin < margin }

func sortGroups(groups []members) {
	for i, m := range groups {
		sortGroup(i, m.predictions)
	}
}

// sortGroup sorts a group for viewing: group 0 (rejected) by novelty, 1
// (uncertain) by smallest margin, classes by confidence.
func sortGroup(i int, predictions []Prediction) {
	slices.SortStableFunc(predictions, func(a, b Prediction) int {
		order := cmp.Compare(b.Probability, a.Probability)
		switch i {
		case 0:
			order = cmp.Compare(b.Novelty, a.Novelty)
		case 1:
			order = cmp.Compare(a.Margin, b.Margin)
		}
		return cmp.Or(order, cmp.Compare(a.Path, b.Path))
	})
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

func knownNames(classes []Class) map[string]bool {
	known := make(map[string]bool, len(classes))
	for _, c := range classes {
		known[c.Name] = true
	}
	return known
}

func newCard(q Prediction, known map[string]bool, margin float64) card {
	c := card{
		Path: showName(q.Path), Predicted: showName(q.Predicted), Truth: showName(q.Truth),
		Source: dataURI(q.Thumbnail), NoPicture: showName(cmp.Or(q.NoPicture, "no preview")), Probability: percent(q.Probability), Bar: barWidth(q.Probability), Novelty: figure(q.Novelty),
		State: correctness(q, known), Rejected: q.Rejected, Uncertain: uncertain(q, margin),
		Details: "margin " + percent(q.Margin) + ", entropy " + figure(q.EntropyNats) + " nats, novelty " + figure(q.Novelty),
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
func dataURI(jpeg []byte) template.URL {
	if len(jpeg) == 0 {
		return ""
	}
	return template.URL("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(jpeg))
}

// isNumber reports whether v can be shown and compared.
func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
