// Package runner takes methods through a class-incremental benchmark: from images or
// embeddings, over the sessions of package fscil, to results, tables and figures.
//
// A [Runner] holds the settings, where to log and how to show progress:
//
//	s, err := r.Read(ctx)             // images → embeddings, or a feature folder
//	benches, err := r.Benches(s)      // the sessions of each run, bound to them
//	outcomes, err := r.Run(ctx, s, benches)
//	err = r.Write(outcomes, settings) // into Env.Dir
//
// Every run of every method is a part ([experiment.Part]): the same call again
// computes only what is missing. Results depend on settings, seed and input, not on
// the number of threads.
//
// What the user must change about the input is an *[experiment.InputError].
package runner
