package split

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/seed-90d10d51/pipeline/classifier/holdout"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/disjoint"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/label"
)

// A dealer collects which rows belong together, and keeps the embeddings of a window only.
type dealer struct {
	sets  disjoint.Sets // of rows
	class []int         // numbers of names
	keys  []key
	names []string // "" is that of rows without a class

	number  map[string]int // of a class
	content map[key]int    // the first row of it
	event   map[string]int // the first row of it
	file    string         // of the last row

	window, pending int
	recent          [][]like // by class
}

// A like is a row that may be like another one.
type like struct {
	row       int
	embedding []float32
}

func newDealer(window int) *dealer {
	return &dealer{number: map[string]int{}, content: map[key]int{}, event: map[string]int{}, window: window}
}

// Put implements label.Sink.
func (d *dealer) Put(s label.Scored) error {
	i, k := len(d.sets), keyOf(s.Content)
	class := d.classOf(s)
	d.sets.Add()
	d.class, d.keys = append(d.class, class), append(d.keys, k)
	if s.Event != nil {
		d.joinFirst(i, d.event, s.Event.Name)
	}
	if file := s.Sample.File(); i > 0 && file == d.file {
		d.sets.Join(i-1, i)
	} else {
		d.file = file
	}
	if first, copied := d.content[k]; copied {
		d.sets.Join(first, i)
		return nil
	}
	d.content[k] = i
	d.recent[class] = append(d.recent[class], like{i, s.Embedding})
	if d.pending++; d.pending == d.window {
		d.joinAlike()
	}
	return nil
}

func (d *dealer) classOf(s label.Scored) int {
	name := s.Prediction.Label
	if s.Rejected {
		name = "" // like what is set aside
	}
	if n, ok := d.number[name]; ok {
		return n
	}
	d.number[name] = len(d.names)
	d.names, d.recent = append(d.names, name), append(d.recent, nil)
	return len(d.names) - 1
}

// joinFirst joins a row with the first one of the same name.
func (d *dealer) joinFirst(i int, rows map[string]int, name string) {
	if first, ok := rows[name]; ok {
		d.sets.Join(first, i)
		return
	}
	rows[name] = i
}

// joinAlike joins the like rows of the window, which ends.
func (d *dealer) joinAlike() {
	for class, rows := range d.recent {
		x := make([][]float32, len(rows))
		for i, r := range rows {
			x[i] = r.embedding
		}
		first := map[int]int{} // of a group
		for i, group := range holdout.Groups(x, nil) {
			if _, ok := first[group]; !ok {
				first[group] = rows[i].row
			}
			d.sets.Join(first[group], rows[i].row)
		}
		d.recent[class] = nil
	}
	d.pending = 0
}

// Commit implements label.Sink.
func (d *dealer) Commit(embedding.Outcome) error {
	d.joinAlike()
	return nil
}

// Abort implements label.Sink.
func (d *dealer) Abort() {}

// A group is dealt as one.
type group struct {
	rows  []int
	first key // the least
}

// groups returns the large ones first, equal ones at random.
func (d *dealer) groups(seed uint64) []*group {
	of := map[int]*group{}
	for i, k := range d.keys {
		root := d.sets.Root(i)
		g := of[root]
		if g == nil {
			g = &group{first: k}
			of[root] = g
		}
		g.rows = append(g.rows, i)
		if bytes.Compare(k[:], g.first[:]) < 0 {
			g.first = k
		}
	}
	groups := slices.SortedFunc(maps.Values(of), func(a, b *group) int { return bytes.Compare(a.first[:], b.first[:]) })
	random.Stream(seed, "label/split").Shuffle(len(groups), func(i, j int) {
		groups[i], groups[j] = groups[j], groups[i]
	})
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(len(b.rows), len(a.rows)) })
	return groups
}

// plan deals the groups.
func (d *dealer) plan(shares Shares, seed uint64) *Plan {
	p := &Plan{shares: shares, part: map[key]uint8{}, photos: make([]int, len(shares))}
	size := make([]int, len(d.names))
	for _, class := range d.class {
		size[class]++
	}
	lacks := make([][]float64, len(shares)) // what each part lacks of each class
	for part, share := range shares {
		lacks[part] = make([]float64, len(size))
		for class, n := range size {
			lacks[part][class] = share / 100 * float64(n)
		}
	}
	in := make([]map[int]bool, len(size)) // the parts of a class
	for _, g := range d.groups(seed) {
		part := d.neediest(g, lacks)
		p.photos[part] += len(g.rows)
		if len(g.rows) > 1 {
			p.groups++
		}
		for _, i := range g.rows {
			class := d.class[i]
			lacks[part][class]--
			p.part[d.keys[i]] = uint8(part)
			if in[class] == nil {
				in[class] = map[int]bool{}
			}
			in[class][part] = true
		}
	}
	for class, name := range d.names {
		if size[class] > 1 && len(in[class]) == 1 && name != "" {
			p.whole = append(p.whole, name)
		}
	}
	slices.Sort(p.whole)
	return p
}

// neediest returns the part that lacks most of the classes of a group.
func (d *dealer) neediest(g *group, lacks [][]float64) (part int) {
	most := 0.
	for p := range lacks {
		sum := 0.
		for _, i := range g.rows {
			sum += lacks[p][d.class[i]]
		}
		if p == 0 || sum > most {
			part, most = p, sum
		}
	}
	return part
}
