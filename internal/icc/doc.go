// Package icc converts pictures of wide colour spaces (Display P3, Adobe RGB, ProPhoto)
// to sRGB, as their ICC profiles describe. It reads profiles of three curves and a
// matrix, as cameras and screens have; those of tables, as printers have, are ignored.
package icc
