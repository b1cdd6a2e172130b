// Package worker is the pipeline as a filter: one request a line in, one
// answer a line out, in the same order, for programs that spread the work
// themselves (Spark, a queue, a script).
//
// A line of the input is a path as it is, or a JSON object {"path": …, "id": …}
// whose path is escaped as in labels.csv and whose id, any JSON value, comes
// back. An answer is a JSON object with the path, the id where there was one,
// and either the result or "error". A line that cannot be understood is
// answered by an error and the work goes on.
//
// Answers do not wait for more input, and nothing more is read while answers
// are not taken: a bounded number of requests is under way at any time.
package worker
