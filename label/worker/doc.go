// Package worker runs the pipeline as a filter, for programs that distribute
// the work themselves (Spark, a queue, a script): one request per input line,
// one answer per output line, in the same order.
//
// A request is a plain path, or a JSON object {"path": …, "id": …} whose path
// is escaped as in labels.csv and whose id, any JSON value, is returned in the
// answer. An answer is a JSON object with the path, the id if there was one,
// and either the result or "error". A malformed line is answered with an error,
// and the work continues.
//
// Answers do not wait for further input, and input is not read while answers
// are not consumed: the number of requests in progress is bounded.
package worker
