// Package mutation damages files at random, for tests that count how many damaged
// files a reader survives. Unlike a fuzz target, such a test has an end and
// draws the same files in every run.
package mutation

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// envCount is the environment variable with the number of files per test, envState the one with a
// folder in which a test notes how far it came, so that a long run may be ended, also by the deadline of
// the tests, and go on later, and envOne the one with the number of a file that is tried alone.
const (
	envOne   = "PIPELINE_MUTATION"
	envCount = "PIPELINE_MUTATIONS"
	envState = "PIPELINE_MUTATIONS_STATE"
)

// mostFailures is the number of failures that Each reports in full, filesAtOnce that of the files
// after which it notes how far it came.
const (
	mostFailures = 20
	filesAtOnce  = 4096
)

// Each calls try for 0, 1, … in parallel, envCount times or, if that is not set,
// usual times, a tenth of it in short runs, and then once more for those that cost most. rng depends on i
// alone. An error or a panic fails the test, which names i, and so does a file that takes more than ten seconds
// or 1 GiB; try must not use t. With envState it goes on where an earlier run ended.
func Each(t *testing.T, usual int, try func(i int, rng *rand.Rand) error) {
	t.Helper()
	n := usual
	if testing.Short() {
		n = usual / 10
	}
	n = number(t, envCount, n)
	if one := number(t, envOne, -1); one >= 0 {
		c, err := measure(one, func() error { return guarded(one, try) })
		t.Logf("file %d: %v, %.1f MiB", one, c.Time, float64(c.Bytes)/(1<<20))
		if err != nil {
			t.Error(err)
		}
		return
	}
	done := openProgress(t, os.Getenv(envState))
	for late := done.lateness(t.Deadline()); done.Tried < n && !late(); {
		from, some := done.Tried, min(n-done.Tried, filesAtOnce)
		dense.Parallel(some, func(i int) {
			done.measured(from+i, func() error { return guarded(from+i, try) })
		})
		done.Tried += some
		done.save(t)
	}
	t.Logf("%d of %d damaged files, %d failures; the costliest by themselves:", done.Tried, n, len(done.Failed))
	for _, f := range done.Failed[:min(len(done.Failed), mostFailures)] {
		t.Errorf("file %d: %s", f.File, f.Error)
	}
	done.report(t, try)
	done.save(t)
}

// number returns that of an environment variable, or otherwise.
func number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s=%q is not a number of files", variable, text)
	}
	return n
}

func guarded(i int, try func(i int, rng *rand.Rand) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return try(i, rand.New(rand.NewPCG(uint64(i), 0)))
}

// Bytes returns a copy of a file with one to four pieces damaged: bits, bytes,
// whole numbers, parts deleted, repeated, cleared, cut off, or taken from one of
// the others. Half of the damage is in the first 64 bytes, where headers are.
func Bytes(rng *rand.Rand, file []byte, others [][]byte) []byte {
	b := slices.Clone(file)
	for range 1 + rng.IntN(4) {
		if len(b) == 0 {
			return b
		}
		span := len(b)
		if rng.IntN(2) == 0 {
			span = min(span, 64)
		}
		b = damage(rng, b, rng.IntN(span), others)
	}
	return b
}

// Inside is Bytes behind some of the first 800 bytes: for formats with long headers, of which one wrong
// byte at the beginning hides the rest.
func Inside(rng *rand.Rand, file []byte, others [][]byte) []byte {
	head := rng.IntN(min(len(file), 800))
	return slices.Concat(file[:head], Bytes(rng, file[head:], others))
}

func damage(rng *rand.Rand, b []byte, at int, others [][]byte) []byte {
	end := at + 1 + rng.IntN(min(len(b)-at, 64))
	switch rng.IntN(8) {
	case 0:
		b[at] ^= 1 << rng.IntN(8)
	case 1:
		b[at] = byte(rng.UintN(256))
	case 2:
		b[at] = extreme[byte](rng, 0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff)
	case 3:
		putNumber(rng, b[at:])
	case 4:
		b = slices.Delete(b, at, end)
	case 5:
		b = slices.Insert(b, at, slices.Clone(b[at:end])...)
	case 6:
		if other := others[rng.IntN(len(others))]; len(other) > 0 {
			copy(b[at:end], other[rng.IntN(len(other)):])
		}
	default:
		if rng.IntN(4) == 0 {
			b = b[:at]
		} else {
			clear(b[at:end])
		}
	}
	return b
}

// putNumber writes an extreme number of 2, 4 or 8 bytes, in either byte order.
func putNumber(rng *rand.Rand, b []byte) {
	v := extreme[uint64](rng, 0, 1, 1<<15, 1<<16-1, 1<<31-1, 1<<31, 1<<32-1, 1<<63-1, 1<<63, 1<<64-1)
	var raw [8]byte
	order := extreme[binary.ByteOrder](rng, binary.LittleEndian, binary.BigEndian)
	switch rng.IntN(3) {
	case 0:
		order.PutUint16(raw[:], uint16(v))
		copy(b, raw[:2])
	case 1:
		order.PutUint32(raw[:], uint32(v))
		copy(b, raw[:4])
	default:
		order.PutUint64(raw[:], v)
		copy(b, raw[:])
	}
}

func extreme[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }
