// Package atomicfile replaces files and directories so that a final name never
// carries half-written content: write under a temporary name in the same
// directory, fsync, rename, fsync the directory.
//
// Temporary names are ".<name>.tmp-pipeline-<random>". A writer holds an
// advisory lock on its temporary file, so [RemoveStale] can remove the
// leftovers of killed runs without touching the work of another process.
package atomicfile
