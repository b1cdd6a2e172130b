package teach

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label/rank"
)

// A View is a selection of photos in an order.
type View string

// The views.
const (
	All        View = "all"        // by name
	Check      View = "check"      // without a label and not unknown, the least certain first
	Novel      View = "unknown"    // without a label and like no class, the most novel first
	Suspicious View = "suspicious" // with a label that is probably wrong, the most doubtful first
	OfClass    View = "class"      // labelled or predicted as Class, those to look at first
	Typical    View = "start"      // typical photos, to name the first ones
)

// A Query selects photos. Zero fields select nothing away.
type Query struct {
	View  View
	Class string
	Group int
	// Text is part of the name, Folder the folder or one above it.
	Text, Folder string
	// Since and Until bound the time of change; Until is excluded.
	Since, Until time.Time
	// Decided selects photos with or without a decision.
	Decided *bool
	// After is Next of the page before, Limit the size of a page.
	After string
	Limit int
}

// An Item is a photo and what is known about it.
type Item struct {
	Photo
	// Label was decided, or is named by the folder; "" for none.
	Label string
	By    By
	// Rather is a class that is more probable than Label; "" if there is none, or a person
	// gave Label.
	Rather string
	// Top are the most probable classes; nil before the photo is scored.
	Top     []classifier.Ranked
	Novelty float64
	Unknown bool
	Group   int // ID of its Group; 0 for none
}

// A Page is a part of a view.
type Page struct {
	Items    []Item
	Total    int
	Next     string
	Revision int
}

// An order is a sorted view.
type order struct {
	rows []int
	keys []float64
}

// List returns a page of a view. A *Refusal reports a Query.Group that is forgotten.
func (s *Session) List(q Query) (Page, error) {
	after, err := parseCursor(q.After)
	if err != nil {
		return Page{}, err
	}
	if q.View == OfClass && q.Class == "" {
		return Page{}, refuse(Invalid, "the view class needs a class")
	}
	if q.View == Typical {
		s.chooseTypical()
	}
	o := s.order(q)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if q.Group != 0 && s.groups.rows(q.Group) == nil {
		return Page{}, refuse(Conflict, "the groups have changed meanwhile: look again")
	}
	first := 0
	if after != nil {
		first, _ = slices.BinarySearchFunc(dense.Range(0, len(o.rows)), *after, func(i int, c cursor) int {
			return cmp.Or(cmp.Compare(o.keys[i], c.key), cmp.Compare(o.rows[i], c.row), -1) // the first one beyond
		})
	}
	last := min(first+q.Limit, len(o.rows))
	p := Page{Total: len(o.rows), Revision: s.revision, Items: []Item{}}
	for _, i := range o.rows[first:last] {
		p.Items = append(p.Items, s.item(i))
	}
	if last < len(o.rows) && last > first {
		p.Next = cursor{o.keys[last-1], o.rows[last-1]}.String()
	}
	return p, nil
}

// A cursor is the last photo of a page, by its key and row.
type cursor struct {
	key float64
	row int
}

func (c cursor) String() string {
	b := binary.BigEndian.AppendUint64(nil, math.Float64bits(c.key))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(b, uint64(c.row)))
}

func parseCursor(text string) (*cursor, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 16 {
		return nil, refuse(Invalid, "the cursor is not one of this server")
	}
	return &cursor{math.Float64frombits(binary.BigEndian.Uint64(b)), int(binary.BigEndian.Uint64(b[8:]))}, nil
}

// order returns the rows of a view; it keeps them until something changes.
func (s *Session) order(q Query) order {
	q.After, q.Limit = "", 0
	name := fmt.Sprintf("%+v", q)
	if q.Decided != nil {
		name = fmt.Sprintf("%s %v", name[:strings.LastIndex(name, "Decided:")], *q.Decided)
	}
	s.mu.RLock()
	o, ok := s.orders[name]
	revision := s.revision
	if !ok {
		o = s.sorted(q)
	}
	s.mu.RUnlock()
	if ok {
		return o
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const most = 16 // orders of 100 000 photos
	if s.revision == revision {
		if len(s.orders) >= most {
			clear(s.orders)
		}
		s.orders[name] = o
	}
	return o
}

func (s *Session) sorted(q Query) (o order) {
	text := strings.ToLower(q.Text)
	type entry struct {
		key float64
		row int
	}
	var entries []entry
	rows := s.groups.rows(q.Group)
	if q.Group == 0 {
		rows = dense.Range(0, len(s.photos))
	}
	for _, i := range rows {
		if s.photos[i].Path == "" || !s.passes(q, i, text) {
			continue
		}
		if key, ok := s.key(q, i); ok {
			entries = append(entries, entry{key, i})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if q.View == All {
			return strings.Compare(s.photos[a.row].Path, s.photos[b.row].Path)
		}
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.row, b.row))
	})
	for at, e := range entries {
		if q.View == All {
			e.key = float64(at)
		}
		o.rows, o.keys = append(o.rows, e.row), append(o.keys, e.key)
	}
	return o
}

// passes reports whether photo i meets the conditions besides the view.
func (s *Session) passes(q Query, i int, text string) bool {
	p := s.photos[i]
	folder := folderOf(p.Path)
	switch {
	case text != "" && !strings.Contains(strings.ToLower(nameOf(p.Path)), text):
		return false
	case q.Folder != "" && folder != q.Folder && !strings.HasPrefix(folder, q.Folder+"/"):
		return false
	case !q.Since.IsZero() && p.Changed.Before(q.Since), !q.Until.IsZero() && !p.Changed.Before(q.Until):
		return false
	}
	if q.Decided != nil {
		if _, decided := s.state.marks[p.ID]; decided != *q.Decided {
			return false
		}
	}
	if q.Class == "" {
		return true
	}
	label, _ := s.label(i)
	return label == q.Class || label == "" && s.scored(i) && s.predicted(i) == q.Class
}

func (s *Session) scored(i int) bool { return s.scores != nil && i < s.scores.len() }

// unknown reports whether photo i, which has scores, is like no class.
func (s *Session) unknown(i int) bool { return float64(s.scores.novelty[i]) > s.live.threshold }

func (s *Session) predicted(i int) string { return s.scores.classes[s.scores.first[i]] }

// key returns by what photo i is sorted in a view, and whether it is in it.
func (s *Session) key(q Query, i int) (float64, bool) {
	label, by := s.label(i)
	switch q.View {
	case All:
		return 0, true
	case Typical:
		at, ok := s.typical.place[i]
		return float64(at), ok && label == ""
	case Check:
		return s.margin(i), label == "" && s.scored(i) && !s.unknown(i)
	case Novel:
		if label != "" || !s.scored(i) {
			return 0, false
		}
		return -float64(s.scores.novelty[i]), math.IsInf(s.live.threshold, 1) || s.unknown(i)
	case Suspicious:
		rather, doubt := s.doubt(i, label, by)
		return -doubt, rather != ""
	}
	if !s.scored(i) {
		return 2, label != ""
	}
	key := float64(s.scores.prob[i])
	if label != "" {
		key++
	}
	return key, true
}

func (s *Session) margin(i int) float64 {
	if !s.scored(i) {
		return 0
	}
	return float64(s.scores.prob[i]) - float64(s.scores.runner[i])
}

// doubt returns the class that is more probable than the label of photo i, "" for none,
// and how much the label is doubted, −1 to 1. Of what the model learned it asks a model
// that did not, too (package rank).
func (s *Session) doubt(i int, label string, by By) (rather string, doubt float64) {
	if label == "" || by == Person || !s.scored(i) {
		return "", 0
	}
	id := s.photos[i].ID
	rather, doubt = s.predicted(i), 1
	if c := slices.Index(s.scores.classes, label); c >= 0 {
		belief := rank.Believed(s.scores.logProb(i), c)
		if first := s.left.first[id]; slices.Contains(s.scores.classes, first) { // it may have got another name since
			rather, belief = first, belief.Mean(s.left.belief[id])
		}
		doubt = belief.Doubt()
	}
	if rather == label {
		rather = ""
	}
	return rather, doubt
}

// topClasses is the number of classes of an Item.
const topClasses = 5

// item describes photo i.
func (s *Session) item(i int) Item {
	it := Item{Photo: s.photos[i], Group: s.groups.of[i]}
	it.Label, it.By = s.label(i)
	if s.scored(i) {
		it.Top = s.scores.ranked(i, topClasses)
		it.Novelty = float64(s.scores.novelty[i])
		it.Unknown = s.unknown(i)
		it.Rather, _ = s.doubt(i, it.Label, it.By)
	}
	return it
}

// Get returns one photo.
func (s *Session) Get(id ID) (Item, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.index[id]
	if !ok || s.photos[at].Path == "" {
		return Item{}, false
	}
	return s.item(at), true
}

// A Neighbour is a photo and its similarity, the cosine of the embeddings.
type Neighbour struct {
	Item
	Similarity float64
}

// Near returns the photos most like a photo of the folder.
func (s *Session) Near(ctx context.Context, id ID, decided *bool, limit int) ([]Neighbour, error) {
	s.mu.RLock()
	at, ok := s.index[id]
	s.mu.RUnlock()
	if !ok {
		return nil, refuse(Unknown, "there is no photo %s", id)
	}
	x, err := s.x.read(at, at+1, nil)
	if err != nil {
		return nil, err
	}
	return s.near(ctx, x.Data, at, decided, limit)
}

// NearTo returns the photos most like an embedding.
func (s *Session) NearTo(ctx context.Context, x []float32, limit int) ([]Neighbour, error) {
	return s.near(ctx, x, -1, nil, limit)
}

func (s *Session) near(ctx context.Context, x []float32, except int, decided *bool, limit int) ([]Neighbour, error) {
	s.mu.RLock()
	n := len(s.photos)
	s.mu.RUnlock()
	similarity := make([]float32, n)
	vector := func(v []float32) blas32.Vector { return blas32.Vector{N: len(v), Inc: 1, Data: v} }
	norm := blas32.Nrm2(vector(x))
	err := blocks(ctx, 0, n, func(first, last int) error {
		rows, err := s.x.read(first, last, nil)
		for i := range rows.Rows {
			v := vector(dense.Row32(rows, i))
			if length := norm * blas32.Nrm2(v); length > 0 {
				similarity[first+i] = blas32.Dot(v, vector(x)) / length
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	best := dense.Range(0, n)
	slices.SortFunc(best, func(a, b int) int { return cmp.Or(cmp.Compare(similarity[b], similarity[a]), cmp.Compare(a, b)) })
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := []Neighbour{}
	for _, i := range best {
		_, has := s.state.marks[s.photos[i].ID]
		if i == except || s.photos[i].Path == "" || decided != nil && has != *decided {
			continue
		}
		if out = append(out, Neighbour{s.item(i), float64(similarity[i])}); len(out) == limit {
			break
		}
	}
	return out, nil
}

// Score returns the predictions of the live model for embeddings; a *Refusal if
// there is none.
func (s *Session) Score(x blas32.General, top int) ([]classifier.Prediction, []bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.live == nil {
		return nil, nil, refuse(Conflict, "there is no model yet: name photos of two classes first")
	}
	p, err := classifier.Predict(s.live.Predictor, x, top)
	unknown := make([]bool, len(p))
	for i := range p {
		unknown[i] = p[i].Novelty > s.live.threshold
	}
	return p, unknown, err
}
