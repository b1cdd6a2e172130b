// Package cache stores embeddings on disk, so that none is computed twice.
//
// A [Cache] is a [Store] from content hash to embedding, one per backbone and
// preprocessing, and an [Index] from (path, size, mtime, inode) to content hash,
// so that an unchanged file is not even read. The files are described in
// docs/formats-features.md.
//
// # What it guarantees
//
//   - Only complete rows are ever visible. A row is written before its key; the
//     next writer truncates what a killed one left unfinished.
//   - A killed process (SIGKILL) loses at most the rows that were in flight. Power
//     loss may lose or damage rows written since the last Close; checksums turn
//     damage into a miss.
//   - Any number of processes may use one cache. Each writer locks the file
//     that it appends to; its rows are visible to processes that open the cache
//     later.
//   - Damage is never fatal: it is logged and counted, and the embedding is
//     recomputed.
//   - A cache that cannot be written (read-only disk, no permission, no locks)
//     is still read, and the run continues; a full disk stops the run with an
//     error.
package cache
