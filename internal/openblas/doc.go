// Package openblas finds OpenBLAS on this machine and loads it at run time, as
// internal/ort does with ONNX Runtime: one binary, faster where the library is
// installed. Locate reads headers only; Open loads the library.
//
// Several goroutines call the library at the same time, each on a single
// thread. Only builds with POSIX threads allow that (Debian and Ubuntu:
// libopenblas0-pthread; Homebrew; the ones inside NumPy and SciPy wheels):
// sequential builds are not safe and OpenMP builds count threads per system
// thread, so both are refused.
package openblas
