// Package featdir reads and writes feature folders (FEATDIR): embeddings.npy,
// samples.csv and meta.json. NumPy can read and write them directly;
// docs/formats-features.md describes them.
package featdir
