package moments_test

import (
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier"
	"github.com/seed-90d10d51/pipeline/classifier/moments"
	"github.com/seed-90d10d51/pipeline/internal/dense"
)

// TestSideTensors: a thin form and a full one come back as they were; what
// belongs to no class, or lacks something, is refused.
func TestSideTensors(t *testing.T) {
	var stats []*moments.Moments
	for _, n := range []int{2, 5} {
		x := dense.New32(n, 3)
		for i := range x.Data {
			x.Data[i] = float32(i * i % 7)
		}
		m := moments.New(3)
		if err := m.Add(x); err != nil {
			t.Fatal(err)
		}
		stats = append(stats, m)
	}
	tensors := moments.SideTensors(stats)
	back, err := moments.FromSideTensors(3, 2, tensors)
	if err != nil || !reflect.DeepEqual(moments.SideTensors(back), tensors) {
		t.Errorf("%v, %v", back, err)
	}
	if !back[0].Made(2, stats[0].Mean()) || back[0].Made(3, stats[0].Mean()) || back[0].Made(2, stats[1].Mean()) {
		t.Error("count and mean are not compared")
	}
	for name, change := range map[string]func(map[string]classifier.Tensor){
		"missing": func(m map[string]classifier.Tensor) { delete(m, "1.mean") }, "class 2": func(m map[string]classifier.Tensor) { m["2.rows"] = m["0.rows"] },
		"no class": func(m map[string]classifier.Tensor) { m["rows"] = m["0.rows"] }, "negative": func(m map[string]classifier.Tensor) { m["-1.rows"] = m["0.rows"] },
	} {
		damaged := moments.SideTensors(stats)
		change(damaged)
		if _, err := moments.FromSideTensors(3, 2, damaged); err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
}
