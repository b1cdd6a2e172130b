/*
Package pipeline names what photos show. It learns new classes from a few photos each without
forgetting the old ones, on a laptop, without a graphics card.

	p, err := pipeline.Open(ctx)
	m, learned, err := p.Train(ctx, pipeline.Folder("photos/train"))
	_, err = m.Learn(ctx, pipeline.Folder("photos/new"))
	err = m.Save("animals.model")
	for l, err := range m.Label(ctx, pipeline.Folder("photos/holiday"), pipeline.Reject(0.02)) {
		…
	}

# Photos and embeddings

Photos pass once through a ready-made neural network, which turns each into an embedding, a row of
numbers; embeddings are cached. A statistical classifier learns classes from them in seconds, and
says of every photo how probable each class is, and whether it is of none of them. A [Source] is a
folder of photos, a list, or a folder of embeddings. [Studio.Fit] learns from numbers of one's own.

# Requests

A [Studio] holds what requests share: the network, the cache, the back ends. Each thing that a person
may ask for is a method with one result; results have Lines for a person. The command line, the
pages of package serve and Go programs call the same methods.

# Errors

A [UsageError] reports a request that contradicts itself, a [PartialError] that some photos could not
be read and everything else is done, a [PhotoError] one of these photos, an [UnsavedError] a model
whose decisions are in its journal but not in its file. When ctx ends, a request ends with its error;
the same request goes on where it was.

# Journals

A model that people teach, on the page of serve, has a journal beside its file. What a person decided
is the truth from then on: [Studio.Label] gives a photo the class that was decided, Learn and Forget
are lines of the journal, and a server that has the model open takes them as news.
*/
package pipeline
