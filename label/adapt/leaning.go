package adapt

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A leaning is the posterior of the photos of a folder whose labels lean on those of their neighbours: it
// minimises Σ KL(pᵢ‖softmax bᵢ) − λ/2 (Σ aᵢⱼ pᵢ·pⱼ − n·|p̄|²). The log-probabilities b are the head's,
// calibrated; those of all but the likeliest classes of a photo stay.
type leaning struct {
	graph   graph
	classes int // C
	// kept is the number of classes that are kept of each photo. The slices have n·kept values: the classes in
	// ascending order, b, p and log p.
	kept      int
	class     []int32
	b, p, log []float32
	// rest is the log-probability of the other classes of each photo together, lost what normalising has taken
	// from it.
	rest, lost []float32
	decided    []int32 // which of the kept classes of a photo a person decided, −1 for none
	absent     float64 // what was added to the log-probability of classes that are not kept
}

// likely is the number of classes that are kept of a photo. In every folder tried, fewer than one photo in
// a thousand is of a class beyond those that leaning on others could bring it to.
const likely = 32

func newLeaning(g graph, classes int) *leaning {
	n, kept := len(g), min(classes, likely)
	return &leaning{graph: g, classes: classes, kept: kept, class: make([]int32, n*kept),
		b: make([]float32, n*kept), p: make([]float32, n*kept), log: make([]float32, n*kept),
		rest: make([]float32, n), lost: make([]float32, n), decided: slices.Repeat([]int32{-1}, n)}
}

// set sets the log-probabilities (C) of photo i, and the class that a person decided, −1 for none.
func (l *leaning) set(i int, logProb []float64, decided int) {
	order := dense.Range(0, l.classes)
	if l.kept < l.classes {
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(logProb[b], logProb[a]), a-b) })
		if at := slices.Index(order, decided); at >= l.kept {
			order[l.kept-1], order[at] = order[at], order[l.kept-1]
		}
		slices.Sort(order[:l.kept])
	}
	class, b, p := l.of(i)
	for k, c := range order[:l.kept] {
		class[k], b[k], p[k] = int32(c), float32(logProb[c]), float32(math.Exp(logProb[c]))
		if c == decided {
			l.decided[i] = int32(k)
		}
	}
	rest := 0.0
	for _, c := range order[l.kept:] {
		rest += math.Exp(logProb[c])
	}
	l.rest[i] = float32(math.Log(rest))
	if l.decided[i] >= 0 {
		clear(p)
		p[l.decided[i]] = 1
	}
}

func (l *leaning) of(i int) (class []int32, b, p []float32) {
	from, to := i*l.kept, (i+1)*l.kept
	return l.class[from:to], l.b[from:to], l.p[from:to]
}

const (
	// rounds is how often all photos look at their neighbours.
	rounds = 10
	// strength and fewStrength are λ of many, and more of few, photos per class; mostStrength is the most.
	strength, fewStrength, mostStrength = 1.5, 1.5, 2
	// spareClasses is the number of photos per class beyond the first from which neighbours count fully: in a
	// folder with one photo of each class all neighbours are of other classes.
	spareClasses = 4
	// presentShare and absentShare: from presentShare on of the classes that there could be, by perplexity, all
	// are expected; at absentShare below it the folder has few for certain.
	presentShare, absentShare = 0.6, 0.3
	// proof is the number of photos of a class that have to be sure of it, and doubt the share of a class that
	// nobody is sure of.
	proof, doubt = 3, 0.05
)

// settle lets the photos of a model that has learned perClass photos of each class lean on each other. It
// returns λ, and t: 0 in a folder with one photo of each class, of which all neighbours are of other classes, 1
// in one with many.
func (l *leaning) settle(ctx context.Context, perClass float64) (lambda, t float64, err error) {
	t = clip((float64(len(l.graph))/l.perplexity() - 1) / spareClasses)
	lambda = t * min(mostStrength, strength+fewStrength/perClass)
	return lambda, t, l.lean(ctx, lambda, 1)
}

// narrow makes classes less probable that the folder does not seem to show, after settle, and returns how
// certainly it shows few: h, 0 to 1.
func (l *leaning) narrow(ctx context.Context, lambda, t float64) (h float64, err error) {
	could := float64(min(l.classes, len(l.graph)))
	h = t * clip((presentShare-l.perplexity()/could)/absentShare)
	if h == 0 {
		return 0, nil
	}
	l.favour(h / 2)
	return h, l.lean(ctx, lambda*(1+h), 0) // how usual a class is tells which are there
}

func clip(x float64) float64 { return min(max(x, 0), 1) }

// perplexity returns that of the counts of the most probable classes.
func (l *leaning) perplexity() float64 {
	counts := make([]float64, l.classes)
	for i := range l.graph {
		class, _, p := l.of(i)
		counts[class[argmax(p)]]++
	}
	entropy := 0.0
	for _, n := range counts {
		if n > 0 {
			share := n / float64(len(l.graph))
			entropy -= share * math.Log(share)
		}
	}
	return math.Exp(entropy)
}

func argmax(p []float32) int {
	best := 0
	for k, v := range p {
		if v > p[best] {
			best = k
		}
	}
	return best
}

// lean updates all photos at once, rounds times: p = softmax(b + λ·(a·p − usual·p̄)), p̄ the mean of all photos.
func (l *leaning) lean(ctx context.Context, strength, usual float64) error {
	const block = 256
	next := make([]float32, len(l.p))
	tasks := (len(l.graph) + block - 1) / block
	for range rounds {
		chance := l.mean(-usual)
		err := dense.ParallelErr(tasks, func(task int) error {
			around := make([]float32, l.classes) // Σ aᵢⱼ pⱼ − usual·p̄
			for i := task * block; i < min((task+1)*block, len(l.graph)); i++ {
				copy(around, chance)
				l.update(next[i*l.kept:(i+1)*l.kept], around, i, float32(strength))
			}
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		l.p, next = next, l.p
	}
	return nil
}

// mean returns p̄ of all classes, times a factor.
func (l *leaning) mean(times float64) []float32 {
	sums := make([]float64, l.classes)
	for i := range l.graph {
		class, _, p := l.of(i)
		for k, c := range class {
			sums[c] += float64(p[k])
		}
	}
	mean := make([]float32, l.classes)
	for c, sum := range sums {
		mean[c] = float32(times * sum / float64(len(l.graph)))
	}
	return mean
}

// update writes the belief of photo i into p; around (C) begins with what to add to that of its neighbours.
func (l *leaning) update(p, around []float32, i int, strength float32) {
	class, b, was := l.of(i)
	if l.decided[i] >= 0 {
		copy(p, was)
		return
	}
	for _, e := range l.graph[i] {
		others, _, belief := l.of(int(e.to))
		for k, c := range others {
			around[c] += e.weight * belief[k]
		}
	}
	best := l.rest[i]
	for k, c := range class {
		p[k] = b[k] + strength*around[c]
		best = max(best, p[k])
	}
	sum := float32(math.Exp(float64(l.rest[i] - best)))
	for _, v := range p {
		sum += float32(math.Exp(float64(v - best)))
	}
	l.lost[i] = best + float32(math.Log(float64(sum)))
	log := l.log[i*l.kept : (i+1)*l.kept]
	for k := range p {
		log[k] = p[k] - l.lost[i]
		p[k] = float32(math.Exp(float64(log[k])))
	}
}

// favour adds times·log(π+doubt) to the log-probability of each class, π how sure the photos are of it that
// are surest.
func (l *leaning) favour(times float64) {
	surest := make([][proof]float32, l.classes) // descending
	for i := range l.graph {
		class, _, p := l.of(i)
		for k, c := range class {
			top := &surest[c]
			for at, v := range top {
				if p[k] > v {
					copy(top[at+1:], top[at:proof-1])
					top[at] = p[k]
					break
				}
			}
		}
	}
	bias := make([]float32, l.classes)
	for c, top := range surest {
		var sum float64
		for _, v := range top {
			sum += float64(v)
		}
		bias[c] = float32(times * math.Log(sum/proof+doubt))
	}
	l.absent = times * math.Log(doubt)
	for i := range l.graph {
		class, b, _ := l.of(i)
		for k, c := range class {
			b[k] += bias[c]
		}
		l.rest[i] += float32(l.absent)
	}
}

// write changes the log-probabilities (C) that photo i had to those that it has now.
func (l *leaning) write(i int, logProb []float64) {
	if l.decided[i] >= 0 {
		return
	}
	floats.AddConst(l.absent-float64(l.lost[i]), logProb)
	class, _, _ := l.of(i)
	for k, v := range l.log[i*l.kept : (i+1)*l.kept] {
		logProb[class[k]] = float64(v)
	}
}
