// Package cache stores embeddings on disk, so that none is computed twice.
//
// A [Cache] maps the content of files to embeddings, one per backbone and
// preprocessing, and (path, size, mtime, inode) to content, so that an unchanged
// file is not even read. On disk it is a folder of bbolt databases, described in
// docs/formats-features.md, and one rule: a process writes only into a database
// that it has made itself, under its lock, until Flush. From then on the database
// is only read, by any number of processes, until it is merged into a larger one.
//
// # What it guarantees
//
//   - No process waits for another, and no file that was there before is changed.
//   - Embeddings are written in groups, so that writing takes about a twentieth of
//     the time. SIGKILL and power loss cost at most the last group.
//   - Other processes see what was stored before the last Flush when they open the
//     cache, and what a killed process had written.
//   - Damage is never fatal: it is logged, and the embedding is computed again.
//   - A cache that cannot be written (read-only disk, no permission) is still read,
//     and the run continues; a full disk stops the run with an error.
package cache
