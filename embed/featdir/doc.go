// Package featdir reads and writes feature folders (FEATDIR): embeddings.npy,
// samples.csv and meta.json. NumPy reads and writes them without help;
// docs/formats.md describes them.
package featdir
