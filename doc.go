/*
Package pipeline names what photos show. It learns new classes from a few photos each without
forgetting the old ones, on a laptop, without a graphics card.

Photos pass once through a ready-made neural network, which turns each into an embedding, a row of
numbers; embeddings are cached. A statistical classifier learns classes from them in seconds, and
says of every photo how probable each class is, and whether it is of none of them.

# Learn

A folder of photos for each class is enough to begin with. Open returns a [Studio], which holds what
requests share: the network, the cache, the back ends.

	p, err := pipeline.Open(ctx)
	m, learned, err := p.Train(ctx, pipeline.Folder("photos/train"))
	fmt.Println(learned.Outcome.Added, "photos of", m.Classes())

The first request needs ONNX Runtime and a network, which "pipeline setup" fetches ([Studio.SetUp]).
More photos, of old classes or new ones, are learned in seconds. The model is one file:

	_, err = m.Learn(ctx, pipeline.Folder("photos/new"))
	err = m.Save("animals.model")

# Label

Photos are labelled one after the other, in constant memory. Reject(0.02) leaves those unnamed that
resemble nothing learned, and with them about 2 % of the photos that do.

	m, err := p.Load(ctx, "animals.model")
	for l, err := range m.Label(ctx, pipeline.Folder("photos/holiday"), pipeline.Reject(0.02)) {
		if err != nil { // a *PhotoError is about one photo; the range goes on
			log.Print(err)
			continue
		}
		fmt.Println(l.Path, l.Class, l.Probability)
	}

[Studio.Label] writes result files instead: tables, folders by class, sidecars, a report.

	q := pipeline.NewLabelRequest("animals.model", pipeline.Folder("photos/holiday"), "labels")
	q.Settings.Format = []string{"csv", "xlsx"}
	labelled, err := p.Label(ctx, q)

# Correct

What a person says is the truth from then on, for this model and everything that reads it:

	t, err := p.Teach(ctx, pipeline.TeachRequest{Model: "animals.model", From: pipeline.Folder("photos/holiday")})
	err = t.Decide(ctx, "red fox", "photos/holiday/17.jpg")
	err = t.Close()

Every decision is appended to a journal beside the model. [Studio.Label] keeps to what was decided,
Learn and Forget are recorded there, too, and a server that has the model open picks them up.

# Numbers instead of photos

Rows of another network, or of anything that can be measured, need no network at all:

	m, err := p.Fit(ctx, rows, labels)
	predictions, err := m.Predict(ctx, others)

# Requests

Each thing that a person may ask for is a method of Studio with one result, which has Lines for a
person. The command line, the pages of package serve and Go programs call the same methods. A [Source]
is a folder of photos, a list, or a folder of embeddings. A [Listener] hears how far a request is.

# Errors

A [UsageError] reports a request that contradicts itself, a [PartialError] that some photos could not
be read and everything else is done, a [PhotoError] one of these photos, an [UnsavedError] a model
whose decisions are in its journal but not in its file. When ctx ends, a request ends with its error;
the same request goes on where it was.

What later versions keep is in docs/library.md, with these programs in full.
*/
package pipeline
