package classifier_test

import (
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
)

func TestTableKeepsColumnOrder(t *testing.T) {
	var table classifier.Table[int]
	for i, name := range []string{"b", "a", "c"} {
		table.Put(name, i)
	}
	table.Put("a", 7)
	copied := table.Clone()
	table.Drop("b")
	table.Drop("nobody")
	table.Put("b", 9)
	if !slices.Equal(table.Names(), []string{"a", "c", "b"}) || !slices.Equal(table.Values(), []int{7, 2, 9}) {
		t.Errorf("%v %v", table.Names(), table.Values())
	}
	if v, ok := table.Get("b"); !ok || v != 9 || table.Len() != 3 {
		t.Errorf("b is %d, %v", v, ok)
	}
	if _, ok := table.Get("nobody"); ok {
		t.Error("a value of an unknown key")
	}
	if !slices.Equal(copied.Names(), []string{"b", "a", "c"}) || !slices.Equal(copied.Values(), []int{0, 7, 2}) {
		t.Errorf("the copy changed: %v %v", copied.Names(), copied.Values())
	}
}
