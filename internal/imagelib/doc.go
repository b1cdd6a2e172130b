// Package imagelib finds libvips and libheif, which decode pictures, on this machine. Both are
// loaded at run time and optional; `pipeline setup` installs them.
package imagelib
