// Package heif reads the boxes of HEIC and AVIF files (HEIF, ISO/IEC 23008-12)
// and decodes their pictures.
//
// [Parse] reads everything that has to be known before decoding: sizes, colours,
// alpha, thumbnails, and which items belong to the picture. It allocates little
// and trusts nothing.
//
// HEVC is decoded by libde265 if it is installed, which is loaded at run time, and
// otherwise by a copy of it compiled to WebAssembly that is built in. They get
// single coded pictures and return samples, which the standard defines to the
// last bit; grids are put together here, and crops, rotation, alpha and colours
// are the caller's, so pictures do not depend on the decoder. AV1 is always
// decoded by libavif in WebAssembly, which delivers RGB, for the same reason.
// The folder wasm says where the programs come from.
package heif
