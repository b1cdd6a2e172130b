package classifiertest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/linalg"
)

func checkUnfitted(t *testing.T, f Factory) {
	h := f.learned(t)
	if len(h.Classes()) != 0 || h.Dim() != 0 {
		t.Errorf("classes %v, dimension %d", h.Classes(), h.Dim())
	}
	for _, novelty := range [][]float64{nil, make([]float64, 1)} {
		if err := h.Score(blas64.General{Rows: 1}, novelty, dense.Rows32(queries(), 0, 1)); !errors.Is(err,
			classifier.ErrNotFitted) {
			t.Errorf("Score: %v", err)
		}
	}
	if _, err := classifier.Predict(h, queries(), 1); !errors.Is(err, classifier.ErrNotFitted) {
		t.Errorf("Predict: %v", err)
	}
	if s, ok := h.(classifier.Saver); ok {
		back := must(f.Load(must(s.Save())(t)))(t)
		learn(t, back, base())
		f.sameHead(t, "saved and loaded unfitted", back, f.learned(t, base()))
	}
}

func checkColumns(t *testing.T, f Factory) {
	h := f.learned(t, base())
	if want := []string{"ant", "bee", "cat"}; !slices.Equal(h.Classes(), want) || h.Dim() != dim {
		t.Fatalf("after the base session %v, dimension %d; want %v, %d", h.Classes(), h.Dim(), want, dim)
	}
	learn(t, h, f.novel())
	if want := []string{"ant", "bee", "cat", "dog", "eel"}; !slices.Equal(h.Classes(), want) {
		t.Errorf("new classes go to the end: %v, want %v", h.Classes(), want)
	}
	if g, ok := h.(classifier.Forgetter); ok {
		gone := "bee"
		if f.FixedBase {
			gone = "dog"
		}
		want := slices.DeleteFunc(slices.Clone(h.Classes()), func(c string) bool { return c == gone })
		if err := g.Forget(gone); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(h.Classes(), want) {
			t.Errorf("forgotten ones vanish: %v, want %v", h.Classes(), want)
		}
		LogProb(t, h, queries())
	}
}

func checkPermutation(t *testing.T, f Factory) {
	s := base()
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(s.y))
	mixed := session{x: dense.Gather32(s.x, order)}
	for _, i := range order {
		mixed.y = append(mixed.y, s.y[i])
	}
	a, b := f.learned(t, s), f.learned(t, mixed)
	if !slices.Equal(a.Classes(), b.Classes()) {
		t.Errorf("columns %v and %v", a.Classes(), b.Classes())
	}
	if f.Ordered {
		return // only the columns are independent of the order
	}
	f.sameHead(t, "examples in another order", b, a)
}

func checkSessions(t *testing.T, f Factory) {
	if !f.OrderFree {
		t.Skip("depends on the order of sessions")
	}
	all := join(base(), f.novel())
	f.sameHead(t, "two sessions", f.learned(t, base(), f.novel()), f.learned(t, all))
	f.sameHead(t, "the other way round", f.learned(t, f.novel(), base()), f.learned(t, all))
	one := f.learned(t)
	for i := range all.y {
		learn(t, one, all.only(func(j int) bool { return i == j }))
	}
	f.sameHead(t, "one by one", one, f.learned(t, all))
}

// badSessions returns sessions that every head that has learned base refuses.
func badSessions(f Factory) map[string]session {
	with := func(v float64) session {
		s := f.novel()
		s.x.Data[3*dim+2] = float32(v)
		return s
	}
	s := f.novel()
	narrow := blas32.General{Rows: 2, Cols: dim - 1, Stride: dim - 1, Data: make([]float32, 2*dim)}
	return map[string]session{
		"NaN":         with(math.NaN()),
		"+Inf":        with(math.Inf(1)),
		"-Inf":        with(math.Inf(-1)),
		"empty":       {x: blas32.General{Cols: dim, Stride: dim}},
		"width":       {x: narrow, y: []string{"dog", "dog"}},
		"few labels":  {x: s.x, y: s.y[1:]},
		"empty label": {x: s.x, y: append([]string{""}, s.y[1:]...)},
		"negative":    {x: blas32.General{Rows: -1, Cols: dim, Stride: dim}},
		"short data": {x: blas32.General{Rows: 2, Cols: dim, Stride: dim, Data: make([]float32, dim)},
			y: []string{"dog", "dog"}},
		"stride too low": {x: blas32.General{Rows: 1, Cols: dim, Stride: 1, Data: make([]float32, dim)},
			y: []string{"dog"}},
	}
}

func checkFailedLearn(t *testing.T, f Factory) {
	h := f.learned(t, base())
	before := everything(t, h)
	for name, s := range badSessions(f) {
		err := h.Learn(context.Background(), s.x, s.y)
		var bad *classifier.NotFiniteError
		if name == "NaN" && (!errors.As(err, &bad) || bad.Row != 3) {
			t.Errorf("NaN in row 3: %v", err)
		}
		if err == nil {
			t.Errorf("%s was learned", name)
		}
		unchanged(t, name, h, before)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Learn(ctx, f.novel().x, f.novel().y); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	unchanged(t, "a cancelled session", h, before)
	checkCancelledMidway(t, f, h, before)
	fresh := f.learned(t)
	if err := fresh.Learn(ctx, base().x, base().y); !errors.Is(err, context.Canceled) || len(fresh.Classes()) != 0 {
		t.Errorf("cancelled base session: %v", err)
	}
	learn(t, h, f.novel())
	f.sameHead(t, "after failures", h, f.learned(t, base(), f.novel()))
}

// A fading context is cancelled after it was asked a number of times.
type fading struct {
	context.Context
	left atomic.Int64
}

func (c *fading) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// CancelledAfter returns a context that is cancelled after it was asked a number of
// times.
func CancelledAfter(looks int64) context.Context {
	c := &fading{Context: context.Background()}
	c.left.Store(looks)
	return c
}

// checkCancelledMidway cancels a session at each point where the head checks
// the context.
func checkCancelledMidway(t *testing.T, f Factory, h classifier.Learner, before []classifier.State) {
	t.Helper()
	if _, ok := h.(classifier.Saver); !ok {
		return // no copies to try it on
	}
	for looks := int64(0); looks < 5000; looks += 1 + looks/16 {
		victim := f.reloaded(t, h)
		err := victim.Learn(CancelledAfter(looks), f.novel().x, f.novel().y)
		if err == nil {
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at look %d: %v", looks+1, err)
		}
		unchanged(t, "a session cancelled midway", victim, before)
	}
	t.Error("a session asks the context without end")
}

// checkCancelledBase: a base session asks the context at least once a class, and
// ends at each of some of these looks with nothing learned.
func checkCancelledBase(t *testing.T, f Factory) {
	const plenty = 1 << 40
	whole := &fading{Context: context.Background()}
	whole.left.Store(plenty)
	h := f.learned(t)
	if err := h.Learn(whole, base().x, base().y); err != nil {
		t.Fatal(err)
	}
	looks := plenty - whole.left.Load()
	if looks < int64(len(h.Classes())) {
		t.Errorf("%d looks at the context while it learned %d classes", looks, len(h.Classes()))
	}
	for _, at := range []int64{1, 2, looks / 4, looks / 2, looks - 1, looks} {
		h := f.learned(t)
		if err := h.Learn(CancelledAfter(at-1), base().x, base().y); !errors.Is(err, context.Canceled) ||
			len(h.Classes()) != 0 {
			t.Errorf("cancelled at look %d of %d: %v, classes %q", at, looks, err, h.Classes())
		}
	}
}

// checkCancelledProducts: a base session whose products fail from some moment on,
// as those of linalg.Until do, fails with nothing learned.
func checkCancelledProducts(t *testing.T, f Factory) {
	if _, ok := f.learned(t).(classifier.BackendUser); !ok {
		t.Skip("multiplies without a backend")
	}
	try := func(products int64) (classifier.Learner, *fading, error) {
		ctx := &fading{Context: context.Background()}
		ctx.left.Store(products)
		h := f.learned(t)
		classifier.UseBackend(h, linalg.Until(ctx, linalg.OnFrom(linalg.Gonum{}, linalg.Gonum{}, 0)))
		return h, ctx, h.Learn(context.Background(), base().x, base().y)
	}
	const plenty = 1 << 40
	_, ctx, err := try(plenty)
	if err != nil {
		t.Fatal(err)
	}
	products := plenty - ctx.left.Load()
	for _, done := range []int64{0, products / 4, products / 2, products - 1} {
		if h, _, err := try(done); products > 0 && (err == nil || len(h.Classes()) != 0) {
			t.Errorf("stopped after %d of %d products: %v, classes %q", done, products, err, h.Classes())
		}
	}
}

func checkNoReference(t *testing.T, f Factory) {
	s := base()
	h := f.learned(t, s)
	before := everything(t, h)
	for i := range s.x.Data {
		s.x.Data[i] = 99
	}
	for i := range s.y {
		s.y[i] = "gone"
	}
	unchanged(t, "overwriting what it learned from", h, before)
	f.sameHead(t, "after overwriting", h, f.learned(t, base()))
}

func checkForget(t *testing.T, f Factory) {
	h := f.learned(t, base(), f.novel())
	g, ok := h.(classifier.Forgetter)
	if !ok {
		t.Skip("cannot forget")
	}
	before := everything(t, h)
	if err := g.Forget("yak"); !errors.Is(err, classifier.ErrUnknownClass) {
		t.Errorf("unknown class: %v", err)
	}
	unchanged(t, "forgetting an unknown class", h, before)
	if err := g.Forget("dog"); err != nil {
		t.Fatal(err)
	}
	n := f.novel()
	notDog := n.only(func(i int) bool { return n.y[i] != "dog" })
	f.sameHead(t, "forgotten", h, f.learned(t, base(), notDog))
	learn(t, h, n.only(func(i int) bool { return n.y[i] == "dog" }))
	f.sameHead(t, "forgotten and learned again", h, f.learned(t, base(), n))
}

func checkForgetAll(t *testing.T, f Factory) {
	h := f.learned(t, base())
	g, ok := h.(classifier.Forgetter)
	if !ok || f.FixedBase {
		t.Skip("cannot forget all")
	}
	for _, c := range []string{"bee", "ant", "cat"} {
		if err := g.Forget(c); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.Classes()) != 0 || h.Dim() != 0 {
		t.Errorf("left: %v, dimension %d", h.Classes(), h.Dim())
	}
	learn(t, h, base())
	f.sameHead(t, "from nothing again", h, f.learned(t, base()))
}

func checkFixedBase(t *testing.T, f Factory) {
	if !f.FixedBase {
		t.Skip("base classes are as others")
	}
	h := f.learned(t, base(), f.novel())
	before := everything(t, h)
	more := join(draw(2, 3, "fox"), draw(4, 4, "ant"))
	if err := h.Learn(context.Background(), more.x, more.y); !errors.Is(err, classifier.ErrUnsupported) {
		t.Errorf("more of a base class: %v", err)
	}
	if g, ok := h.(classifier.Forgetter); ok {
		if err := g.Forget("bee"); !errors.Is(err, classifier.ErrUnsupported) {
			t.Errorf("forgetting a base class: %v", err)
		}
	}
	if g, ok := h.(classifier.SampleForgetter); ok {
		s := base()
		if err := g.ForgetSamples(s.x, s.y); !errors.Is(err, classifier.ErrUnsupported) {
			t.Errorf("forgetting base examples: %v", err)
		}
	}
	unchanged(t, "what was refused", h, before)
}

func checkForgetSamples(t *testing.T, f Factory) {
	h := f.learned(t, base())
	g, ok := h.(classifier.SampleForgetter)
	if !ok {
		t.Skip("cannot forget examples")
	}
	learn(t, h, f.novel())
	before := everything(t, h)
	far := draw(77, 1, "eel")
	for j := range far.x.Data {
		far.x.Data[j] *= -1
	}
	for name, s := range map[string]session{
		"unknown class": draw(2, 1, "yak"), "a known and an unknown class": join(f.novel(), draw(2, 1, "yak")),
		"too many": join(draw(3, 1, "eel"), draw(3, 1, "eel")), "never learned": far,
		"none": {x: blas32.General{Cols: dim, Stride: dim}},
	} {
		if err := g.ForgetSamples(s.x, s.y); err == nil {
			t.Errorf("%s: was forgotten", name)
		}
		unchanged(t, "refusing "+name, h, before)
	}
	gone := f.novel()
	if err := g.ForgetSamples(gone.x, gone.y); err != nil {
		t.Fatal(err)
	}
	f.sameHead(t, "learned and forgotten", h, f.learned(t, base()))
	if want := f.learned(t, base()).Classes(); !slices.Equal(h.Classes(), want) {
		t.Errorf("classes %v, want %v: those without examples vanish", h.Classes(), want)
	}
}
