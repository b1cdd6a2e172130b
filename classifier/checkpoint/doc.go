// Package checkpoint keeps the parts of long jobs in files, so that a command
// that was stopped goes on where it was and ends with the same bytes as one
// that was not. Everything that can be resumed stands on it: the trainings of
// heads and projections, the parts of experiments, the runs of benchmarks.
//
//	NAME.safetensors  one part: settings, tensors, and the key of everything that it depends on
//
// Every file is written under another name, synced, and renamed. A file that is
// damaged or has another key is reported and not used. There are no times in
// any file.
package checkpoint
