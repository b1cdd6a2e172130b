package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"

	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// A record is a key, what is stored under it, and the CRC-32C of both: the database
// itself has checksums only in its first two pages.
const checksumBytes = 4

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func seal(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, checksum(b)) }

// unseal returns what a record holds for a key; false if it is damaged or has another key.
func unseal(record, key []byte) (content []byte, ok bool) {
	end := len(record) - checksumBytes
	if end < len(key) || !bytes.HasPrefix(record, key) {
		return nil, false
	}
	return record[len(key):end], checksum(record[:end]) == binary.LittleEndian.Uint32(record[end:])
}

// A rowKey is that of an embedding: its namespace and the hash of the image.
type rowKey [namespaceBytes + len(Hash{})]byte

// rowRecord returns the record of an embedding.
func rowRecord(key rowKey, v []float32) []byte {
	b := make([]byte, 0, len(key)+4*len(v)+checksumBytes)
	b, _ = binary.Append(append(b, key[:]...), binary.LittleEndian, v) // a []float32 can always be encoded
	return seal(b)
}

func parseRow(record []byte, key rowKey) ([]float32, bool) {
	content, ok := unseal(record, key[:])
	if !ok || len(content) == 0 || len(content)%4 != 0 {
		return nil, false
	}
	v := make([]float32, len(content)/4)
	_, err := binary.Decode(content, binary.LittleEndian, v)
	return v, err == nil && dense.Finite32(v)
}

// A pathKey is the first half of the SHA-256 of an absolute path.
type pathKey [16]byte

func keyOfPath(abs string) pathKey {
	sum := sha256.Sum256([]byte(abs))
	return pathKey(sum[:len(pathKey{})])
}

// pathRecord returns the record of a file that had a state when its content hashed to h.
func pathRecord(key pathKey, state FileState, h Hash) []byte {
	b := append(make([]byte, 0, len(key)+4*8+len(h)+checksumBytes), key[:]...)
	for _, n := range []uint64{uint64(state.Size), uint64(state.MtimeNs), state.Inode} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint64(append(b, h[:]...), uint64(state.CtimeNs))
	return seal(b)
}

func parsePath(record []byte, key pathKey) (state FileState, h Hash, ok bool) {
	content, ok := unseal(record, key[:])
	known := 3*8 + len(h) // in caches of 0.2, and the time of change after it
	if !ok || len(content) != known && len(content) != known+8 {
		return state, h, false
	}
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(content[at:]) }
	copy(h[:], content[3*8:])
	state = FileState{Size: int64(word(0)), MtimeNs: int64(word(8)), Inode: word(16)}
	if len(content) > known {
		state.CtimeNs = int64(word(known))
	}
	return state, h, true
}
