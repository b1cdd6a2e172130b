package embed

import "sync/atomic"

// Counts says how far a run is.
type Counts struct {
	Total    int   // items emitted
	Cached   int   // of those, embeddings that needed no inference
	Inferred int   // of those, embeddings computed
	Failed   int   // of those, items with an error
	Read     int   // files opened and read
	Bytes    int64 // bytes read
}

type counters struct {
	total, cached, inferred, failed, read, bytes atomic.Int64
}

func (c *counters) reset() {
	for _, n := range []*atomic.Int64{&c.total, &c.cached, &c.inferred, &c.failed, &c.read, &c.bytes} {
		n.Store(0)
	}
}

func (c *counters) counts() Counts {
	return Counts{
		Total: int(c.total.Load()), Cached: int(c.cached.Load()), Inferred: int(c.inferred.Load()),
		Failed: int(c.failed.Load()), Read: int(c.read.Load()), Bytes: c.bytes.Load(),
	}
}

// emitted counts an item as it leaves.
func (c *counters) emitted(i Item) {
	switch {
	case i.Err != nil:
		c.failed.Add(1)
	case i.Cached:
		c.cached.Add(1)
	default:
		c.inferred.Add(1)
	}
	c.total.Add(1)
}
