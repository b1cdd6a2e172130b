// Package turbojpeg loads the TurboJPEG library (libjpeg-turbo), if it is
// installed, and decodes JPEG files with it: faster than image/jpeg, and at an
// eighth, a quarter or half of the size for a fraction of the cost.
//
// The project contains no C: the library is opened at run time and optional; `make
// setup` installs it. Releases may differ in pixels, so [Decoder.ID] identifies a library by its
// output for a probe image rather than by its version.
package turbojpeg
