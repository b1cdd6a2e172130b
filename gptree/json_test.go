package gptree_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func TestJSONRoundTrip(t *testing.T) {
	for _, classes := range []int{1, 2, 3, 17, 200} {
		for _, tree := range []*gptree.Tree{
			must.Get(gptree.StickBreaking(classes))(t),
			must.Get(gptree.RandomBalanced(classes, 3))(t),
		} {
			if back := parse(t, preorder(t, tree)); !reflect.DeepEqual(back, tree) {
				t.Errorf("%d classes: read back as %v", classes, back)
			}
		}
	}
	if back := parse(t, " [ -1,\n0, 1 ] "); back.Classes() != 2 {
		t.Error("white space matters")
	}
	if _, err := json.Marshal(new(gptree.Tree)); err == nil {
		t.Error("the zero tree was written")
	}
}

func TestJSONRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              `[]`,
		"not a list":         `{"class":0}`,
		"null":               `[null]`,
		"minus zero":         `[-0]`,
		"a fraction":         `[-1,0,1.5]`,
		"a split alone":      `[-1]`,
		"even":               `[-1,0]`,
		"two roots":          `[0,1,2]`,
		"nodes after it":     `[-1,0,1,-1,2]`,
		"children missing":   `[-1,-1,0]`,
		"class twice":        `[-1,0,0]`,
		"class too large":    `[-1,0,2]`,
		"class too small":    `[-1,0,-2]`,
		"children swapped":   `[-1,1,0]`,
		"swapped below":      `[-1,-1,0,2,-1,3,1]`,
		"beyond int":         `[99999999999999999999]`,
		"one class, but ten": `[10]`,
	} {
		tree := must.Get(gptree.StickBreaking(2))(t)
		if err := json.Unmarshal([]byte(text), tree); err == nil {
			t.Errorf("%s: %s was read", name, text)
		}
		if tree.Classes() != 2 || tree.Depth() != 1 {
			t.Errorf("%s: the tree changed", name)
		}
	}
}

func FuzzTreeJSON(f *testing.F) {
	for _, text := range []string{"[0]", "[-1,0,1]", "[-1,-1,0,2,-1,1,3]", "[null]", "[-1,1,0]", "[-1,0,1,2,3]", "{}",
		"[-1,-1,-1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tree := new(gptree.Tree)
		if tree.UnmarshalJSON(text) != nil {
			if tree.Classes() != 0 {
				t.Fatal("an error left a tree behind")
			}
			return
		}
		checkTree(t, tree, tree.Classes())
		if back := parse(t, preorder(t, tree)); !reflect.DeepEqual(back, tree) {
			t.Fatal("the tree differs after a round trip")
		}
	})
}
