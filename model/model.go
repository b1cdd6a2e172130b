package model

import (
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/seed-90d10d51/pipeline/embed"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

// What can be wrong with a MODEL file or its use, for errors.Is.
var (
	// ErrNotModel says that the file is something else.
	ErrNotModel = errors.New("not a pipeline model")
	// ErrNewerVersion says that a later program wrote the file, ErrOlderVersion
	// that an earlier one did.
	ErrNewerVersion = container.ErrNewerVersion
	ErrOlderVersion = container.ErrOlderVersion
	// ErrTooShort says that the end of the file is missing.
	ErrTooShort = safetensors.ErrTooShort
	// ErrAltered says that the bytes are not those that were written.
	ErrAltered = safetensors.ErrDigest
	// ErrChangedMeanwhile says that another process saved a new version
	// between Load and Save.
	ErrChangedMeanwhile = errors.New("another process changed the model meanwhile, run the command again")
)

// What statistics of classes (package classstats) and models share.
type (
	Hash     = classstats.Hash
	SampleID = classstats.SampleID
)

// A Session is what one successful Learn added and is still learned.
type Session struct {
	// Index counts from 0, the base session.
	Index int
	// NewClasses are the classes that this session brought, in column order.
	NewClasses []string
	// Samples is what was learned, in the order it came.
	Samples []SampleID
}

// Count returns the number of samples.
func (s Session) Count() int { return len(s.Samples) }

// A Model is a Predictor and its history. It is safe for concurrent use as long
// as nobody calls Learn, a Forget method or Save.
type Model struct {
	// Method is that of the Predictor's head.
	Method    string
	Predictor *Predictor
	// HeadConfig is the resolved configuration that the head was made with.
	HeadConfig json.RawMessage
	// Provenance says what made the embeddings; of a foreign FEATDIR only their
	// dimension is known.
	Provenance embed.Provenance
	Seed       uint64
	// ToolVersion is the program that last changed the model; the caller
	// sets it after a Learn that added something.
	ToolVersion string
	Sessions    []Session
	Calibration Calibration
	// KeepStatistics says whether Save writes the side file, for heads that
	// have one.
	KeepStatistics bool

	statistics statistics
	changed    bool // since Load or Save
	onDisk     version
}

// version is the file that the model was loaded from or saved to.
type version struct {
	path    string
	written safetensors.Written
}

// SHA256 is the hash of the MODEL file as it was loaded or last saved, in
// hexadecimal; "" for a model that has no file yet.
func (m *Model) SHA256() string {
	if m.onDisk.path == "" {
		return ""
	}
	return hex.EncodeToString(m.onDisk.written.SHA256[:])
}

// Dim returns the embedding dimension.
func (m *Model) Dim() int { return m.Predictor.Dim() }

// Accepts says whether embeddings of this provenance may be mixed with the
// model's; the error is that of embed.Provenance.Compatible.
func (m *Model) Accepts(p embed.Provenance) error {
	own := m.Provenance
	own.Dim = m.Dim()
	return p.Compatible(own, "in the model")
}

// Classes returns the class names in column order.
func (m *Model) Classes() []string { return m.Predictor.Classes() }

// A ClassInfo is one class as `inspect` shows it.
type ClassInfo struct {
	Name    string
	Samples int
	// Session is the index of the session that brought the class.
	Session int
}

// ClassSizes lists the classes in column order. Cost: one pass over the
// learned samples.
func (m *Model) ClassSizes() []ClassInfo {
	classes := m.Classes()
	out := make([]ClassInfo, len(classes))
	column := make(map[string]int, len(classes))
	for i, c := range classes {
		out[i].Name = c
		column[c] = i
	}
	for _, s := range m.Sessions {
		for _, c := range s.NewClasses {
			if i, ok := column[c]; ok {
				out[i].Session = s.Index
			}
		}
		for _, id := range s.Samples {
			if i, ok := column[id.Class]; ok {
				out[i].Samples++
			}
		}
	}
	return out
}

// SampleCount returns how many samples are learned.
func (m *Model) SampleCount() int {
	n := 0
	for _, s := range m.Sessions {
		n += s.Count()
	}
	return n
}
