// Package checkpoint stores the parts of long jobs in files, so that a command
// that was stopped resumes where it was and ends with the same bytes as one
// that was not. Everything that can be resumed uses it: the training of heads
// and projections, the parts of experiments, the runs of benchmarks.
//
//	NAME.safetensors  one part: settings, tensors, and the key of everything that it depends on
//
// Every file is written under a temporary name, synced, and renamed. A file
// that is damaged or has another key is reported and not used. No file contains
// times.
package checkpoint
