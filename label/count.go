package label

import (
	"crypto/sha256"
	"errors"

	"github.com/seed-90d10d51/pipeline/classifier/holdout/calibration"
	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/model/account"
)

// A Count is a Sink that makes the account of its rows. It comes before those that ask for it when they are
// committed. Its memory grows by a few bytes per row.
type Count struct {
	// Measured is what the photos tell that were drawn at random, nil for nothing.
	Measured *account.Measured
	// Learned, unless nil, reports whether the head has learned the file of a content as the class that is given.
	Learned func(content [sha256.Size]byte) bool

	tally *account.Tally
	known []model.ClassInfo
	seen  map[[8]byte]bool // the beginnings of contents
	rows  int
	sum   account.Account
}

// NewCount returns the count of rows that a model labels, which was calibrated and knows so many
// examples of each class.
func NewCount(held calibration.Calibration, known []model.ClassInfo) *Count {
	classes := make([]string, len(known))
	for i, c := range known {
		classes[i] = c.Name
	}
	return &Count{tally: account.NewTally(held, classes), known: known, seen: map[[8]byte]bool{}}
}

// Put implements Sink.
func (c *Count) Put(row Scored) error {
	c.rows++
	content := [8]byte(row.Content[:8])
	switch p := row.Prediction; {
	case c.seen[content] && row.Sample.Box == nil:
		c.tally.Rest(0, 1, 0)
	case row.By != "":
		c.tally.Decide(row.Who(), p.Label)
	case c.Learned != nil && c.Learned(row.Content):
		c.tally.Decide(account.List, dataset.EscapePath(row.Sample.Label))
	default:
		c.tally.Label(c.tally.Column(p.Label), p.Probability, p.Novelty, row.Rejected)
	}
	c.seen[content] = true
	return nil
}

// Commit implements Sink.
func (c *Count) Commit(o embedding.Outcome) error {
	for _, p := range o.Problems {
		if !errors.As(p.Err, new(*ItemError)) { // of which there is a row
			c.tally.Rest(1, 0, 0)
		}
	}
	c.tally.Measure(c.Measured)
	c.sum = c.tally.Account(account.Situation{Read: c.rows, Known: c.known})
	return nil
}

// Account returns the account of all rows once they are committed.
func (c *Count) Account() account.Account { return c.sum }

// Abort implements Sink.
func (c *Count) Abort() {}
