package model

import (
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/safetensors"
	"github.com/seed-90d10d51/pipeline/model/classstats"
	"github.com/seed-90d10d51/pipeline/model/internal/container"
	"github.com/seed-90d10d51/pipeline/model/prior"
)

// Errors about a MODEL file or its use, for errors.Is.
var (
	// ErrNotModel means that the file is not a MODEL.
	ErrNotModel = errors.New("not a pipeline model")
	// ErrNewerVersion means that a newer program wrote the file,
	// ErrOlderVersion that an older one did.
	ErrNewerVersion = container.ErrNewerVersion
	ErrOlderVersion = container.ErrOlderVersion
	// ErrTooShort means that the end of the file is missing.
	ErrTooShort = safetensors.ErrTooShort
	// ErrAltered means that the bytes are not those that were written.
	ErrAltered = safetensors.ErrDigest
	// ErrChangedMeanwhile means that another process saved a new version
	// between Load and Save.
	ErrChangedMeanwhile = errors.New("another process changed the model in the meantime, run the command again")
)

// Types that models share with class statistics (package classstats).
type (
	Hash     = classstats.Hash
	SampleID = classstats.SampleID
)

// A Model is a Predictor and its history. It is safe for concurrent use except
// during Learn, a Forget method or Save.
type Model struct {
	// Method is the method of the Predictor's head; Choice is why, nil if it was
	// given. Later sessions and forgetting do not choose again.
	Method    string
	Choice    *Choice
	Predictor *Predictor
	// HeadConfig is the resolved configuration of the head.
	HeadConfig json.RawMessage
	// Provenance records how the embeddings were computed; for a foreign
	// FEATDIR only the dimension is known.
	Provenance embedding.Provenance
	// Prior is what training started from besides its samples, nil for nothing.
	Prior *prior.Prior
	Seed  uint64
	// ClassFrom is the rule by which folders named the classes (dataset.ClassFrom), empty
	// if none was given.
	ClassFrom string
	// ToolVersion is the version of the program that last changed the model;
	// the caller sets it after a Learn that added something.
	ToolVersion string
	Sessions    History
	// KeepStatistics makes Save write the side file, for heads that have one.
	KeepStatistics bool
	// Traces reports that the model keeps traces of what it forgot approximately.
	Traces bool
	// DropPrevious makes Save remove the previous version of the file, and its
	// statistics, because they hold what the model has forgotten.
	DropPrevious bool
	// Replacing, unless nil, is called before Save gives a new file the name of the
	// present one, with the SHA-256 of both in hexadecimal, "" for no present one. After an
	// error the present one stays.
	Replacing func(present, next string) error

	makes      heads // for reading back; the zero value stands for methods()
	statistics statistics
	changed    bool // since Load or Save
	onDisk     version
}

// version is the file that the model was loaded from or saved to.
type version struct {
	path    string
	written safetensors.Written
}

// SHA256 returns the hash of the MODEL file as loaded or last saved, in
// hexadecimal; "" for a model that has no file yet.
func (m *Model) SHA256() string {
	if m.onDisk.path == "" {
		return ""
	}
	return sumOf(&m.onDisk.written)
}

// sumOf returns the hash of a file in hexadecimal, "" for nil.
func sumOf(w *safetensors.Written) string {
	if w == nil {
		return ""
	}
	return hex.EncodeToString(w.SHA256[:])
}

// Dim returns the embedding dimension.
func (m *Model) Dim() int { return m.Predictor.Dim() }

// Accepts returns nil if embeddings of this provenance may be mixed with the
// model's, or the error of embedding.Provenance.Compatible.
func (m *Model) Accepts(p embedding.Provenance) error {
	own := m.Provenance
	own.Dim = m.Dim()
	return p.Compatible(own, "in the model")
}

// Classes returns the class names in column order.
func (m *Model) Classes() []string { return m.Predictor.Classes() }

// A ClassInfo describes one class for `inspect`.
type ClassInfo struct {
	Name    string `json:"class"`
	Samples int    `json:"samples"`
	// Session is the index of the session that added the class.
	Session int `json:"session"`
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
	}
	for _, id := range m.Sessions.samples() {
		if i, ok := column[id.Class]; ok {
			out[i].Samples++
		}
	}
	return out
}

// SampleCount returns the number of learned samples.
func (m *Model) SampleCount() int { return m.Sessions.count() }
