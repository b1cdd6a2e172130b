package pldaplus

import (
	"cmp"
	"fmt"

	"github.com/seed-90d10d51/pipeline/classifier/kit/gauss"
	"github.com/seed-90d10d51/pipeline/internal/setting"
)

// The names of the two heads.
const (
	PLDAPlus = "plda+"
	PPCAEB   = "ppca-eb"
)

// Auto as Config.Nu means that pseudo-sessions inside the base session choose.
const Auto = 0

// Pooled as ν means infinity: every class has the pooled covariance.
const Pooled = 1e12

// defaultEpsilon is the default of Config.Epsilon.
const defaultEpsilon = 0.5

// maxQ bounds the components of a class.
const maxQ = 1 << 16

// Config holds the settings of a head of the family.
type Config struct {
	// Epsilon is ε, the share of the within-class covariance that is replaced
	// by a multiple of I with the same trace. With a prior, a small base session
	// replaces the default by a value of its own (see Head).
	Epsilon float64 `json:"epsilon" mapstructure:"epsilon"`
	// Q is the maximum number of directions with class-specific variance.
	Q int `json:"q" mapstructure:"q"`
	// Nu is ν: the covariance of a class counts as n−1 examples, the pooled
	// one as ν; 0 (Auto) means choose it on the base session, 1e12 (Pooled)
	// infinity.
	Nu float64 `json:"nu" mapstructure:"nu"`
	// Uncertain treats the mean of a class as uncertain, the more so the fewer
	// examples it has.
	Uncertain bool `json:"uncertain" mapstructure:"uncertain"`
	// MeanLength is η: how far the length of a class mean is moved towards the expected
	// one, from 0, not at all, to 1 (gauss.Space.Length). It has no effect on known means.
	MeanLength float64 `json:"mean_length,omitempty" mapstructure:"mean_length"`
	// Student uses the multivariate t in place of the Gaussian: the covariance
	// is uncertain as well.
	Student bool `json:"student" mapstructure:"student"`
	// Calibrate lets pseudo-sessions choose how classes of the base session
	// are weighed against later ones: κ, T, b and g of Setting.
	Calibrate bool `json:"calibrate" mapstructure:"calibrate"`
	// Splits is the number of pseudo-sessions to choose with.
	Splits int `json:"splits" mapstructure:"splits"`
	// Statistics stores what is needed to learn more examples of an old class and
	// to forget single ones: up to 4d² bytes per class. It is not a key of the
	// section: classifier.statistics sets it.
	Statistics bool `json:"statistics" mapstructure:"-"`
	// Seed decides which pseudo-sessions are drawn. It is the seed of the run, not
	// a key of the section, and 0 if there is nothing to choose.
	Seed uint64 `json:"seed,omitempty" mapstructure:"-"`
}

// DefaultPLDAPlus returns ε = ½, q = 20, and everything else chosen by nine
// pseudo-sessions.
func DefaultPLDAPlus() Config {
	return Config{Epsilon: defaultEpsilon, Q: 20, Nu: Auto, Uncertain: true, MeanLength: gauss.DefaultLength,
		Student: true, Calibrate: true, Splits: 9, Statistics: true}
}

// DefaultPPCAEB returns ε = ½, q = 20, ν chosen by nine pseudo-sessions, the
// Gaussian and no calibration.
func DefaultPPCAEB() Config {
	c := DefaultPLDAPlus()
	c.Student, c.Calibrate = false, false
	return c
}

// Validate returns an error that names the field that is out of range.
func (c Config) Validate() error {
	err := cmp.Or(setting.Float("epsilon", c.Epsilon, 1e-6, 1), setting.Float("mean_length", c.MeanLength, 0, 1),
		setting.Int("q", c.Q, 0, maxQ), setting.Int("splits", c.Splits, 1, 1000))
	if err != nil || c.Nu == Auto {
		return err
	}
	return checkNu(c.Nu)
}

func checkNu(nu float64) error {
	if !(nu >= 1e-6 && nu <= Pooled) {
		return fmt.Errorf("nu: %g is outside 1e-6 … 1e12; 0 means choose it on the base session, 1e12 infinity", nu)
	}
	return nil
}

// chooses reports whether pseudo-sessions have something to choose.
func (c Config) chooses() bool { return c.Nu == Auto || c.Calibrate }

// A Setting is what pseudo-sessions choose: ν, and the weights of
//
//	s_c = (ℓ_c + κ·cos(z, m_c))/T
//
// to which b is added for a later class; a logistic regression may rerank the
// scores of the base classes, leaving their sum unchanged.
type Setting struct {
	Nu          float64 `json:"nu"`          // ν
	Kappa       float64 `json:"kappa"`       // κ
	Temperature float64 `json:"temperature"` // T
	Later       float64 `json:"later"`       // b
	Rerank      float64 `json:"rerank"`      // g; 0 means no reranking
}

// plain returns the setting without calibration.
func plain(nu float64) Setting { return Setting{Nu: nu, Temperature: 1} }

// String describes the setting, as in "ν 3000, κ 800, T 64, b 2.27, g 2".
func (s Setting) String() string {
	nu := fmt.Sprintf("ν %.4g", s.Nu)
	if s.Nu >= Pooled {
		nu = "ν ∞"
	}
	if s.calibrated() {
		return fmt.Sprintf("%s, κ %.4g, T %.4g, b %.4g, g %.4g", nu, s.Kappa, s.Temperature, s.Later, s.Rerank)
	}
	return nu
}

func (s Setting) calibrated() bool { return s != plain(s.Nu) }

func checkSetting(s Setting) error {
	if err := checkNu(s.Nu); err != nil {
		return err
	}
	if !(s.Kappa >= 0 && s.Kappa <= 1e9) || !(s.Temperature >= 1e-9 && s.Temperature <= 1e9) ||
		!(s.Later >= -1e9 && s.Later <= 1e9) || !(s.Rerank >= 0 && s.Rerank <= 1e9) {
		return fmt.Errorf("setting %+v is out of range", s)
	}
	return nil
}
