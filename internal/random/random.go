// Package random derives random streams from one seed.
//
// A stream is determined by the seed, its purpose, and the names and indices
// that it belongs to, and by nothing else: neither by what other streams were
// used for nor by the number of threads. Streams that differ in any of these
// are independent for all practical purposes, as they start at points given by
// SHA-256. The derivation is part of what makes results reproducible: changing
// it, or a purpose, changes every result that involves chance.
package random

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// Stream returns the stream of a purpose, the package and what the numbers are
// for ("dkl/order"). The indices tell apart what is counted: runs, epochs,
// chains.
func Stream(seed uint64, purpose string, index ...int) *rand.Rand {
	return StreamOf(seed, purpose, nil, index...)
}

// Weighted draws an index with a probability proportional to its weight. If
// rounding leaves a remainder, it returns the last index with a positive weight;
// −1 if there is none.
func Weighted(rng *rand.Rand, weights []float64) int {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	left, at := rng.Float64()*sum, -1
	for i, w := range weights {
		if w > 0 {
			at = i
			if left -= w; left < 0 {
				break
			}
		}
	}
	return at
}

// Another is Weighted for drawing without repetition, where the indices drawn
// before have weight 0: if all weights are 0, it returns the first other index.
func Another(rng *rand.Rand, weights []float64, before []int) int {
	at := Weighted(rng, weights)
	for at < 0 || slices.Contains(before, at) {
		at++
	}
	return at
}

// StreamOf returns the stream of a purpose that belongs to something with names,
// such as a class or the classes under a node. Unlike its position, the name of
// a class stays when others come and go.
func StreamOf(seed uint64, purpose string, names []string, index ...int) *rand.Rand {
	number := binary.LittleEndian.AppendUint64
	text := func(b []byte, s string) []byte { return append(number(b, uint64(len(s))), s...) }
	b := text(number(nil, seed), purpose)
	b = number(b, uint64(len(names)))
	for _, name := range names {
		b = text(b, name)
	}
	for _, i := range index {
		b = number(b, uint64(i))
	}
	sum := sha256.Sum256(b)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
}
