// Package turbojpeg loads the TurboJPEG library (libjpeg-turbo), where the system
// has it, and decodes JPEG files with it: faster than image/jpeg, and at an
// eighth, a quarter or half of the size at a fraction of the cost.
//
// There is no C in this project: the library is opened at run time, and nothing
// changes where there is none. Releases may differ in pixels, so [Decoder.ID]
// names what a library makes of a probe rather than its version.
package turbojpeg
