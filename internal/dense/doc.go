// Package dense provides basic operations on the matrices of this project: rows,
// views, copies and parallel loops over blas64.General and blas32.General,
// row-major with a stride. Names without a suffix are for float64, names with 32
// for float32.
//
// Row, Rows and View share memory with the matrix; Clone and Gather copy and leave
// no gaps between rows. Indices out of range panic, except that a matrix without
// rows or columns has no data to index; Valid and Valid32 check a matrix that
// comes from outside.
package dense
