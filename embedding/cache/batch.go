package cache

import (
	"encoding/binary"
	"errors"

	bolt "go.etcd.io/bbolt"
)

// A batch is what is not in a database yet.
type batch struct {
	rows  [][]byte // records, in the order in which they came
	found map[rowKey]int
	paths map[pathKey][]byte // records
	bytes int
}

func newBatch() *batch { return &batch{found: map[rowKey]int{}, paths: map[pathKey][]byte{}} }

func (b *batch) addRow(key rowKey, record []byte) {
	b.found[key] = len(b.rows)
	b.rows = append(b.rows, record)
	b.bytes += len(record)
}

func (b *batch) addPath(key pathKey, record []byte) {
	b.paths[key] = record
	b.bytes += len(record)
}

func (b *batch) row(key rowKey) (v []float32, ok bool) {
	i, found := b.found[key]
	if !found {
		return nil, false
	}
	return parseRow(b.rows[i], key)
}

// The buckets of a database. Rows are numbered as they come, so that what is read together
// lies together; a table of keys has the number of each. The names have the version of the
// format: a database without them is left alone.
var (
	rowBucket  = []byte("rows 1")  // number: record
	keyBucket  = []byte("keys 1")  // rowKey: number
	pathBucket = []byte("paths 1") // pathKey: record
)

// store writes the batch. Of several rows with one key the first stays, of several states of
// a path the last.
func (b *batch) store(tx *bolt.Tx) error {
	rows, noRows := tx.CreateBucketIfNotExists(rowBucket)
	keys, noKeys := tx.CreateBucketIfNotExists(keyBucket)
	paths, noPaths := tx.CreateBucketIfNotExists(pathBucket)
	if err := errors.Join(noRows, noKeys, noPaths); err != nil {
		return err
	}
	rows.FillPercent = 1 // they are only appended
	for _, record := range b.rows {
		key := record[:len(rowKey{})]
		if keys.Get(key) != nil {
			continue
		}
		n, err := rows.NextSequence()
		number := binary.BigEndian.AppendUint64(nil, n)
		if err := errors.Join(err, rows.Put(number, record), keys.Put(key, number)); err != nil {
			return err
		}
	}
	for key, record := range b.paths {
		if err := paths.Put(key[:], record); err != nil {
			return err
		}
	}
	return nil
}
