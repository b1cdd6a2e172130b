// Package heif decodes HEIC files with libheif and libde265, which are loaded at run time.
//
// [Library.Header] reads what has to be known before decoding, within limits that the library
// keeps: items, tiles, pixels, memory. Crop, rotation and mirroring (clap, irot, imir), the
// conversion of colours and that of more than 8 bits are the library's. Tiles of
// a grid that cannot be decoded are left out, and counted.
package heif
