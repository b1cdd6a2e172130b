package teach

import (
	"runtime"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// An undo and a decision after it keep two lines, however many decisions there are.
func TestUndoCopiesNoList(t *testing.T) {
	const decisions, undone = 4000, 400
	s := fold(journalled(), newOrigin(nil, nil))
	next := func(l Line) {
		l.Seq = len(s.lines) + 1
		s.take(l)
	}
	for range decisions {
		next(Line{Decision: Decision{Do: Label, Images: photoIDs("a"), Class: "cat"}})
	}
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	for range undone {
		undo := must.Get(takeBack(Undo, s.done))(t)
		next(undo)
		next(Line{Decision: Decision{Do: Label, Images: photoIDs("b"), Class: "dog"}})
	}
	if more := int64(used() - before); more > 64<<20 {
		t.Errorf("%d undos keep %d MiB", undone, more>>20)
	}
	runtime.KeepAlive(s)
}
