// Package vips decodes pictures with libvips, which is loaded at run time.
//
// libvips is C, in this process. Only the loaders of JPEG, PNG, GIF, TIFF, WebP and AVIF
// are allowed, from memory. It runs in the thread that calls it, starts no threads, and
// keeps nothing when a picture has been read. Rows are read in order, so
// what a decoder needs beside them is little; of a damaged picture those before
// the damage are returned.
//
// The library has one buffer of messages for the whole process. A picture that fails, or leaves a
// message, is therefore decoded once more, when no other is: what is then in the buffer is
// about this one. So a warning is never taken for that of another picture.
package vips
