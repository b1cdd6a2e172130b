// Package atomicfile replaces files and directories so that a final name never
// carries half-written content: write under a temporary name beside the target,
// fsync, rename, fsync the directory.
//
// Temporary names are ".<name>.tmp-pipeline-<random>". While their writer lives
// they hold an advisory lock, so [RemoveStale] can clear the leftovers of killed
// runs without touching the work of another process.
package atomicfile
