package method

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/gpr"
	"github.com/seed-90d10d51/pipeline/classifier/gpsoftmax"
	"github.com/seed-90d10d51/pipeline/classifier/hppca"
	"github.com/seed-90d10d51/pipeline/classifier/ncm"
	"github.com/seed-90d10d51/pipeline/classifier/plda"
	"github.com/seed-90d10d51/pipeline/classifier/pldaplus"
	"github.com/seed-90d10d51/pipeline/classifier/ppca"
	"github.com/seed-90d10d51/pipeline/classifier/ppcaonline"
	"github.com/seed-90d10d51/pipeline/classifier/vargp"
	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/suggest"
	"github.com/seed-90d10d51/pipeline/linalg"
)

// Default is the method where nothing is compared.
const Default = "plda"

// Auto, the default of training, stands for the method that does best on held-out
// images, and for Default while there are few of them (model.Train).
const Auto = "auto"

// Candidates returns the methods among which training chooses if the method is Auto,
// the simplest first: the default, then those in closed form. gptree is none of them:
// it starts from the default, and one fit of its trials takes minutes.
func Candidates() []string { return []string{Default, "ncm", "lda", "ppca", "plda+"} }

// Methods returns all methods, sorted by name, those that the program has registered
// (classifier.Register) included. A new method of this module is a package that
// describes itself, and a row here.
func Methods() []classifier.Method {
	methods := slices.Concat(
		classifier.Registered(),
		[]classifier.Method{gpr.Method(), hppca.Method(), ncm.Method(), ppca.Method(), ppcaonline.Method(),
			vargp.Method()},
		gpsoftmax.Methods(), gptree.Methods(), plda.Methods(), pldaplus.Methods(),
	)
	slices.SortFunc(methods, func(a, b classifier.Method) int { return strings.Compare(a.Name, b.Name) })
	return methods
}

// New returns an unfitted head.
func New(name string, c Config) (classifier.Learner, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	head, err := m.New(c.Settings(m))
	if err != nil {
		return nil, fmt.Errorf("%s.%w", m.Key, err)
	}
	if c.Checkpoint != nil {
		classifier.UseCheckpoint(head, c.Checkpoint)
	}
	return head, nil
}

// NewOn is New for a head that multiplies with backend m; nil means gonum.
func NewOn(m linalg.Backend, name string, c Config) (classifier.Learner, error) {
	head, err := New(name, c)
	if err == nil {
		classifier.UseBackend(head, m)
	}
	return head, err
}

// Load returns the head that its Save described.
func Load(name string, s classifier.State) (classifier.Learner, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	return m.Load(s)
}

// FromJSON returns an unfitted head with settings that were written as JSON.
func FromJSON(name string, settings json.RawMessage) (classifier.Learner, error) {
	m, err := Find(name)
	if err != nil {
		return nil, err
	}
	parsed, err := m.Parse(settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Key, err)
	}
	return m.New(parsed)
}

// Find returns the method with that name; the error suggests the nearest name
// and lists all.
func Find(name string) (classifier.Method, error) {
	if name == Auto {
		return classifier.Method{}, errors.New("auto is not a method: it chooses one when a model is trained " +
			"(pipeline train, pipeline fscil)")
	}
	methods := Methods()
	names := make([]string, len(methods))
	for i, m := range methods {
		if names[i] = m.Name; m.Name == name {
			return m, nil
		}
	}
	return classifier.Method{}, fmt.Errorf("unknown method %q%s The methods are %s", name,
		suggest.Sentence(name, names), strings.Join(names, ", "))
}
