// Package matlab reads the numbers, texts and cells of MATLAB level 5 MAT-files
// (versions 5, 6 and 7: what MATLAB's save writes without -v7.3), compressed or
// not, of either byte order. Level 4 and 7.3 (HDF5) files are recognised and
// refused.
//
// [Open] lists the variables. [File.Read] reads one into memory, [File.Columns]
// passes over a matrix column by column in the memory of one column.
//
// The format is that of "MAT-File Format" (MathWorks, R2023b). In short: a header
// of 128 bytes, then elements, each a type, a size and that many bytes; an array
// is an element of elements (flags, dimensions, name, values); a compressed
// element is a zlib stream of one array. Values may be stored in a smaller type
// than the array's class; they come back as float64, and a 64-bit integer that
// float64 cannot hold is an error.
//
// Not read: complex and sparse arrays, structs, objects and function handles.
// They are listed, and other variables of their file can be read.
//
// # Damaged files
//
// Nothing is believed unchecked. An element may claim no more than what encloses
// it holds, a compressed one no more than zlib can pack into its bytes. What is
// kept of one variable is at most 64 MiB, or sixteen times its size in the file
// where that is more, so that a small file cannot fill the memory. The checksum of a
// compressed variable is known at its end only: Read returns nothing before,
// Columns has emitted all columns by then.
package matlab
