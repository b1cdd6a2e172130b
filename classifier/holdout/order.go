package holdout

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// Order returns the numbers of the rows in the one order in which rows are dealt into
// folds: that of their SHA-256. Equal rows stay in the order that they have.
func Order(rows [][]float32) []int {
	hashes := make([][sha256.Size]byte, len(rows))
	for i, row := range rows {
		hashes[i] = dense.Hash32(row)
	}
	order := dense.Range(0, len(rows))
	slices.SortStableFunc(order, func(i, j int) int { return bytes.Compare(hashes[i][:], hashes[j][:]) })
	return order
}
