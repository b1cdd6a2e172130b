package gptree_test

import (
	"encoding/json"
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/gptree"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// parse returns the tree of its preorder list.
func parse(t *testing.T, text string) *gptree.Tree {
	t.Helper()
	tree := new(gptree.Tree)
	if err := json.Unmarshal([]byte(text), tree); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tree
}

func preorder(t *testing.T, tree *gptree.Tree) string {
	t.Helper()
	return string(must.Get(json.Marshal(tree))(t))
}

// checkTree tests what must hold for every tree of C classes.
func checkTree(t *testing.T, tree *gptree.Tree, classes int) {
	t.Helper()
	if tree.Classes() != classes || tree.Splits() != classes-1 {
		t.Fatalf("%d classes and %d splits, want %d and %d", tree.Classes(), tree.Splits(), classes, classes-1)
	}
	longest := 0
	for c := range classes {
		path := must.Get(tree.Path(c))(t)
		longest = max(longest, len(path))
		for _, step := range path {
			left, right := must.Get2(tree.Split(step.Split))(t)
			if slices.Contains(left, c) != step.Left || slices.Contains(right, c) == step.Left {
				t.Fatalf("class %d goes left=%t at split %d (%v | %v)", c, step.Left, step.Split, left, right)
			}
			if slices.Min(left) > slices.Min(right) {
				t.Fatalf("split %d: %v left of %v", step.Split, left, right)
			}
		}
	}
	if tree.Depth() != longest {
		t.Fatalf("depth %d, the longest path has %d decisions", tree.Depth(), longest)
	}
	checkNodes(t, tree)
}

func checkNodes(t *testing.T, tree *gptree.Tree) {
	t.Helper()
	var nodes []gptree.Node
	for i, n := range tree.All() {
		if i != len(nodes) {
			t.Fatalf("position %d after %d nodes", i, len(nodes))
		}
		nodes = append(nodes, n)
	}
	splits := 0
	for i, n := range nodes {
		if (n.Class < 0) == (n.Split < 0) || (n.Split < 0) != (n.Left < 0) || (n.Left < 0) != (n.Right < 0) {
			t.Fatalf("node %d is neither a leaf nor a split: %+v", i, n)
		}
		if (n.Parent < 0) != (i == 0) || n.Parent >= 0 && nodes[n.Parent].Depth != n.Depth-1 {
			t.Fatalf("node %d: parent %d", i, n.Parent)
		}
		if n.Split < 0 {
			continue
		}
		if n.Split != splits || n.Left != i+1 || nodes[n.Left].Parent != i || nodes[n.Right].Parent != i {
			t.Fatalf("split at %d: %+v", i, n)
		}
		splits++
	}
}

func TestStickBreaking(t *testing.T) {
	for text, classes := range map[string]int{"[0]": 1, "[-1,0,1]": 2, "[-1,0,-1,1,-1,2,3]": 4} {
		tree := must.Get(gptree.StickBreaking(classes))(t)
		if got := preorder(t, tree); got != text {
			t.Errorf("%d classes: %s, want %s", classes, got, text)
		}
		checkTree(t, tree, classes)
	}
	tree := must.Get(gptree.StickBreaking(5000))(t)
	if tree.Depth() != 4999 {
		t.Errorf("depth %d", tree.Depth())
	}
	left, right, err := tree.Split(4000)
	if err != nil || !slices.Equal(left, []int{4000}) || len(right) != 999 || right[0] != 4001 {
		t.Errorf("split 4000: %v | %d classes, %v", left, len(right), err)
	}
}

func TestRandomBalancedHasLeastDepth(t *testing.T) {
	for classes := 1; classes <= 33; classes++ {
		tree := must.Get(gptree.RandomBalanced(classes, 7))(t)
		checkTree(t, tree, classes)
		if want := bits.Len(uint(classes - 1)); tree.Depth() != want {
			t.Errorf("%d classes: depth %d, want %d", classes, tree.Depth(), want)
		}
	}
}

func TestRandomBalancedIsUniform(t *testing.T) {
	// the sibling of class 0 under the root of 4 is 1, 2 or 3 with 1/3 each
	const seeds = 3000
	count := map[int]int{}
	for seed := range uint64(seeds) {
		left, _ := must.Get2(must.Get(gptree.RandomBalanced(4, seed))(t).Split(0))(t)
		count[left[1]]++
	}
	for c := 1; c <= 3; c++ {
		if n := count[c]; n < 870 || n > 1130 { // five standard deviations
			t.Errorf("class %d is the sibling of class 0 in %d of %d trees", c, n, seeds)
		}
	}
	alone := map[int]int{} // the class of three that has no companion
	for seed := range uint64(seeds) {
		left, right := must.Get2(must.Get(gptree.RandomBalanced(3, seed))(t).Split(0))(t)
		alone[slices.MinFunc([][]int{left, right}, func(a, b []int) int { return len(a) - len(b) })[0]]++
	}
	for c := range 3 {
		if n := alone[c]; n < 870 || n > 1130 {
			t.Errorf("class %d of three is alone in %d of %d trees", c, n, seeds)
		}
	}
	again := must.Get(gptree.RandomBalanced(40, 5))(t)
	if !reflect.DeepEqual(again, must.Get(gptree.RandomBalanced(40, 5))(t)) {
		t.Error("the same seed gave two trees")
	}
}

// The two children of a node draw from separate streams.
func TestSiblingsDrawDifferently(t *testing.T) {
	differ := 0
	for seed := range uint64(20) {
		tree := must.Get(gptree.RandomBalanced(64, seed))(t)
		left, right, _ := tree.Split(0)
		slices.Sort(left)
		slices.Sort(right)
		path := func(class int) []bool {
			steps, _ := tree.Path(class)
			return []bool{steps[1].Left, steps[2].Left}
		}
		for i := range left {
			if !slices.Equal(path(left[i]), path(right[i])) {
				differ++
				break
			}
		}
	}
	if differ != 20 {
		t.Errorf("left and right of the root are split in the same way in %d of 20 trees", 20-differ)
	}
}

func TestBuildersRefuseClassCounts(t *testing.T) {
	for _, classes := range []int{-1, 0, gptree.MaxClasses + 1} {
		if _, err := gptree.StickBreaking(classes); err == nil {
			t.Errorf("stick-breaking took %d classes", classes)
		}
		if _, err := gptree.RandomBalanced(classes, 0); err == nil {
			t.Errorf("random balanced took %d classes", classes)
		}
	}
}

func TestQuestionsOutsideTheTree(t *testing.T) {
	tree := parse(t, "[-1,0,1]")
	for _, class := range []int{-1, 2} {
		if _, err := tree.Path(class); err == nil {
			t.Errorf("path of class %d", class)
		}
	}
	for _, split := range []int{-1, 1} {
		if _, _, err := tree.Split(split); err == nil {
			t.Errorf("split %d", split)
		}
	}
	var zero gptree.Tree
	if zero.Classes() != 0 || zero.Splits() != 0 || zero.Depth() != 0 {
		t.Error("the zero tree has something in it")
	}
	if _, err := zero.Path(0); err == nil {
		t.Error("path in the zero tree")
	}
	for range tree.All() {
		break // stopping early must not go on
	}
}

func TestJoinKeepsBothTrees(t *testing.T) {
	base := parse(t, "[-1,-1,0,2,1]")
	novel := parse(t, "[-1,0,-1,1,2]")
	joined := must.Get(gptree.Join(base, novel))(t)
	if got := preorder(t, joined); got != "[-1,-1,-1,0,2,1,-1,3,-1,4,5]" {
		t.Errorf("joined: %s", got)
	}
	checkTree(t, joined, 6)
	for split := range novel.Splits() {
		l, r := must.Get2(novel.Split(split))(t)
		jl, jr, err := joined.Split(base.Classes() + split)
		if err != nil || !slices.Equal(jl, shifted(l, 3)) || !slices.Equal(jr, shifted(r, 3)) {
			t.Errorf("split %d of novel: %v | %v, %v", split, jl, jr, err)
		}
	}
	for split := range base.Splits() {
		l, r, _ := base.Split(split)
		jl, jr, err := joined.Split(1 + split)
		if err != nil || !slices.Equal(jl, l) || !slices.Equal(jr, r) {
			t.Errorf("split %d of base: %v | %v, %v", split, jl, jr, err)
		}
	}
	if preorder(t, base) != "[-1,-1,0,2,1]" || preorder(t, novel) != "[-1,0,-1,1,2]" {
		t.Error("join changed a tree")
	}
}

func shifted(classes []int, by int) []int {
	out := slices.Clone(classes)
	for i := range out {
		out[i] += by
	}
	return out
}

func TestJoinRefuses(t *testing.T) {
	one := parse(t, "[0]")
	if got := preorder(t, must.Get(gptree.Join(one, one))(t)); got != "[-1,0,1]" {
		t.Errorf("two leaves joined: %s", got)
	}
	big := must.Get(gptree.StickBreaking(gptree.MaxClasses))(t)
	for name, pair := range map[string][2]*gptree.Tree{
		"nil": {one, nil}, "zero": {{}, one}, "too many": {big, one},
	} {
		if _, err := gptree.Join(pair[0], pair[1]); err == nil {
			t.Errorf("%s: joined", name)
		}
	}
}
