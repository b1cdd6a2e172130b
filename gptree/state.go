package gptree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/holdout/episodes"
	"github.com/seed-90d10d51/pipeline/classifier/kit/exemplars"
	"github.com/seed-90d10d51/pipeline/gp"
	"github.com/seed-90d10d51/pipeline/linalg"
)

type settings struct {
	Config Config `json:"config"`
	classifier.Learned
	Frame classifier.Frame `json:"frame,omitzero"`
	// Fitted are the sessions that were fitted by VI.
	Fitted []fittedSession `json:"fitted,omitempty"`
	// Trees are the trees of the other parts, in order.
	Trees  []*Tree `json:"trees,omitempty"`
	Choice *Choice `json:"root_choice,omitempty"`
	// Mean holds the settings of its head, Temperature its T.
	Mean        json.RawMessage `json:"mean,omitempty"`
	Temperature float64         `json:"temperature,omitempty"`
	// MeanOnly reports for each of Trees whether the mean alone decides in it.
	MeanOnly []bool `json:"mean_only,omitempty"`
}

// fittedSession describes, in a file, a session fitted by VI besides its tensors.
type fittedSession struct {
	Session  int   `json:"session"`
	Tree     *Tree `json:"tree"`
	MeanOnly bool  `json:"mean_only,omitempty"`
}

// Save implements classifier.Saver with the tensors "count" and "session" (C);
// "points" (N×d), the stored inducing inputs and embeddings by class; "omega",
// the Pólya-Gamma variables of the Gibbs nodes, chain after chain; "vi_eta" and
// "vi_precision", the natural parameters of the VI nodes. With a mean also "means",
// m_v at the examples of the Gibbs nodes, and the tensors of its head as "mean.…".
func (h *GPTree) Save() (classifier.State, error) {
	if h.model == nil {
		return classifier.NewState(settings{Config: h.cfg}, nil)
	}
	set := settings{Config: h.cfg, Learned: classifier.Learned{Dim: h.Dim(), Classes: h.Classes()}, Frame: h.Frame,
		Choice: h.choice}
	tensors := h.All.Tensors()
	tensors["session"] = classifier.CountTensor(h.All.Sessions)
	for i, p := range h.model.parts {
		if p.fitted == nil {
			set.Trees = append(set.Trees, h.model.trees[i])
			if h.model.mean != nil {
				set.MeanOnly = append(set.MeanOnly, !h.model.residual(i))
			}
		}
	}
	var omega, means []float64
	for _, n := range h.model.nodes {
		if g, ok := n.latent.(*gp.Gibbs); ok {
			omega, means = append(omega, slices.Concat(g.Omega()...)...), append(means, n.mean...)
		}
	}
	tensors["omega"] = vectorTensor(omega)
	if h.model.mean != nil {
		tensors["means"] = vectorTensor(means)
		if err := h.model.mean.save(&set, tensors); err != nil {
			return classifier.State{}, err
		}
	}
	if len(h.fitted) > 0 {
		var eta, precision []float64
		for _, b := range h.fitted {
			set.Fitted = append(set.Fitted, fittedSession{b.session, b.tree, len(b.nodes) == 0 && b.tree.Splits() > 0})
			for _, v := range b.nodes {
				e, p := v.State()
				eta, precision = append(eta, e...), append(precision, p.Data...)
			}
		}
		tensors["vi_eta"], tensors["vi_precision"] = vectorTensor(eta), vectorTensor(precision)
	}
	return classifier.NewState(set, tensors)
}

func vectorTensor(v []float64) classifier.Tensor {
	return classifier.Tensor{Shape: []int{len(v)}, F64: append([]float64{}, v...)}
}

// Load returns the classifier that Save described.
func Load(s classifier.State) (*GPTree, error) {
	return classifier.LoadHead("gptree", s, func(set settings) (*GPTree, error) {
		set.Config.Mean = cmp.Or(set.Config.Mean, MeanZero) // written before there was a mean
		return New(set.Config)
	}, (*GPTree).restore)
}

// maxSession bounds the number of a session in a file.
const maxSession = 1 << 30

func (h *GPTree) restore(s classifier.State, set settings) error {
	valid := func(r Root) error { return h.cfg.with(r).Validate() }
	if err := episodes.CheckSaved("the root", set.Config.Calibrate, set.Choice, valid); err != nil {
		return err
	}
	if err := set.Frame.Check(set.Dim); err != nil {
		return err
	}
	h.choice, h.Frame = set.Choice, set.Frame
	sessions, err := s.Counts("session", len(set.Classes), baseSession, maxSession)
	if err != nil {
		return err
	}
	if h.All, err = exemplars.Load(s, set.Learned, sessions, maxPerClass); err != nil {
		return err
	}
	if err := h.loadFitted(s, set.Fitted); err != nil {
		return err
	}
	mu, err := h.loadMean(s, set)
	if err != nil {
		return err
	}
	return h.loadModel(s, set, mu)
}

// loadFitted restores the VI nodes of all sessions that have them.
func (h *GPTree) loadFitted(s classifier.State, sessions []fittedSession) error {
	if (h.cfg.Base == BaseVI) != (len(sessions) > 0) {
		return fmt.Errorf("base %s, but %d sessions fitted by VI", h.cfg.Base, len(sessions))
	}
	if len(sessions) == 0 {
		return nil
	}
	if sessions[0].Session != baseSession {
		return fmt.Errorf("the base session is not the first session fitted by VI")
	}
	n := naturals{}
	var err error
	if n.eta, err = s.Float64("vi_eta", len(s.Tensors["vi_eta"].F64)); err != nil {
		return err
	}
	if n.precision, err = s.Float64("vi_precision", len(s.Tensors["vi_precision"].F64)); err != nil {
		return err
	}
	for i, f := range sessions {
		if i > 0 && f.Session <= sessions[i-1].Session {
			return fmt.Errorf("sessions fitted by VI are not in order")
		}
		b, err := h.loadSession(f, &n)
		if err != nil {
			return fmt.Errorf("session %d: %w", f.Session, err)
		}
		h.fitted = append(h.fitted, b)
	}
	if len(n.eta) > 0 || len(n.precision) > 0 {
		return fmt.Errorf("tensors vi_eta, vi_precision: %d and %d values too many", len(n.eta), len(n.precision))
	}
	return nil
}

// naturals are natural parameters of nodes still to be restored.
type naturals struct{ eta, precision []float64 }

// next removes and returns those of a node with m inducing inputs.
func (n *naturals) next(m int) (eta []float64, precision blas64.General, err error) {
	if len(n.eta) < m || len(n.precision)/m < m {
		return nil, precision, fmt.Errorf("tensors vi_eta, vi_precision: too few values")
	}
	eta, precision = n.eta[:m], blas64.General{Rows: m, Cols: m, Stride: m, Data: n.precision[:m*m]}
	n.eta, n.precision = n.eta[m:], n.precision[m*m:]
	return eta, precision, nil
}

func (h *GPTree) loadSession(f fittedSession, n *naturals) (*vi, error) {
	if f.Tree == nil {
		return nil, fmt.Errorf("there is no tree")
	}
	b := &vi{session: f.Session, tree: f.Tree}
	points := h.All.ByClass()
	for i, name := range h.All.Classes {
		if h.All.Sessions[i] == f.Session {
			b.classes = append(b.classes, name)
		}
	}
	slices.Sort(b.classes)
	if len(b.classes) != f.Tree.Classes() {
		return nil, fmt.Errorf("%d classes in a tree of %d", len(b.classes), f.Tree.Classes())
	}
	if f.MeanOnly {
		if h.cfg.Mean == MeanZero {
			return nil, fmt.Errorf("there are no nodes, and the mean is zero")
		}
		return b, nil
	}
	k := h.cfg.kernel(h.cfg.Outputscale)
	spans, class := b.tree.Spans()
	for split, span := range spans {
		_, z, _, err := b.gather(h.cfg, h.Dim(), span, class, nil, points)
		if err != nil {
			return nil, err
		}
		eta, precision, err := n.next(z.Len())
		if err != nil {
			return nil, fmt.Errorf("split %d: %w", split, err)
		}
		v, err := gp.LoadVI(k.Gram(z), eta, precision)
		if err != nil {
			return nil, fmt.Errorf("split %d: %w", split, err)
		}
		b.nodes = append(b.nodes, v)
	}
	return b, nil
}

// samples are what Gibbs nodes still to be restored were saved with.
type samples struct {
	chains       int
	omega, means []float64
}

// node restores a node.
func (s *samples) node(prior gp.Prior, left []bool, _ []string) (*gp.Gibbs, error) {
	n := prior.Len()
	if len(s.omega)/n < s.chains {
		return nil, fmt.Errorf("tensor omega: too few values")
	}
	chains := make([][]float64, s.chains)
	for c := range chains {
		chains[c], s.omega = s.omega[:n:n], s.omega[n:]
	}
	return gp.NewGibbs(prior, left, chains)
}

// mean returns m_v at the points of the next node.
func (s *samples) mean(_, lo, hi int) ([]float64, error) {
	n := hi - lo
	if len(s.means) < n {
		return nil, fmt.Errorf("tensor means: too few values")
	}
	own := s.means[:n:n]
	s.means = s.means[n:]
	return own, nil
}

// loadModel restores the trees, and the Gibbs nodes from their ω.
func (h *GPTree) loadModel(s classifier.State, set settings, mu *mean) error {
	cfg := h.effective()
	left := samples{chains: cfg.Chains}
	var err error
	if left.omega, err = s.Float64("omega", len(s.Tensors["omega"].F64)); err != nil {
		return err
	}
	if mu != nil {
		if left.means, err = s.Float64("means", len(s.Tensors["means"].F64)); err != nil {
			return err
		}
		if len(set.MeanOnly) != len(set.Trees) {
			return fmt.Errorf("mean_only: %d values for %d trees", len(set.MeanOnly), len(set.Trees))
		}
	}
	saved := set.Trees
	from := sources{
		trees: func(p subtree) (*Tree, error) {
			if len(saved) == 0 || saved[0] == nil || saved[0].Classes() != len(p.classes) {
				return nil, fmt.Errorf("there is no tree of %d classes; if an older program wrote the file, train "+
					"the model again", len(p.classes))
			}
			t := saved[0]
			saved = saved[1:]
			return t, nil
		},
		nodes: left.node,
		means: func(*model, exemplars.Rows) (nodeMeans, error) { return left.mean, nil },
		off: func(part int) bool {
			tree := 0 // of the parts that were not fitted by VI
			for _, p := range cfg.parts(h.All, h.fitted)[:part] {
				if p.fitted == nil {
					tree++
				}
			}
			return set.MeanOnly[tree]
		},
	}
	if h.model, err = assembleModel(cfg, h.All, h.fitted, mu, linalg.Backend{}, from); err != nil {
		return err
	}
	if len(saved) > 0 || len(left.omega) > 0 || len(left.means) > 0 {
		return fmt.Errorf("%d trees, %d values of tensor omega and %d of means too many", len(saved), len(left.omega),
			len(left.means))
	}
	return nil
}
