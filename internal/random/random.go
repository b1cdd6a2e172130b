// Package random derives all random streams of the program.
//
// A stream is determined by a seed, a purpose and indices within that purpose,
// such as the number of a node or an epoch. So what one part of the program
// draws never depends on what another part drew before, nor on how the work is
// spread over threads.
package random

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the stream of a purpose, by convention the package and what is
// drawn, as in "dkl order". Streams that differ in the seed, the purpose, or
// the number or value of indices are independent.
func Stream(seed uint64, purpose string, index ...int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	for _, i := range index {
		// Nine bytes, the first of which ends the purpose: no purpose contains it.
		h.Write(binary.LittleEndian.AppendUint64([]byte{0}, uint64(i)))
	}
	return rand.New(rand.NewPCG(seed, mix(h.Sum64())))
}

// mix is the finaliser of SplitMix64: it spreads the difference of two hashes over
// all bits.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
