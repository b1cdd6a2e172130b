package gptree

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// MaxClasses is the largest number of classes in a tree.
const MaxClasses = 1 << 20

// internal marks a split in a preorder list of classes.
const internal = -1

// A Tree is a full binary tree whose leaves are the classes 0 … C−1. It is
// immutable and safe for concurrent use. The zero Tree has no classes.
type Tree struct {
	nodes  []Node // in preorder
	end    []int  // one past the last descendant of each node
	leaves []int  // position of each class
	splits []int  // position of each split
	depth  int
}

// A Node is a leaf, which holds one class, or a split with two children.
// Positions count nodes in preorder: the root is 0, a left child follows its
// parent.
type Node struct {
	// Class is the class of a leaf, −1 at a split.
	Class int
	// Split is the number of a split, 0 … C−2, −1 at a leaf.
	Split int
	// Parent is the position of the parent, −1 at the root.
	Parent int
	// Left and Right are the positions of the children, −1 at a leaf.
	Left, Right int
	// Depth is the number of decisions above this node.
	Depth int
}

// A Decision is one step of a path: a split and the direction taken there.
type Decision struct {
	Split int
	// Left is y_v of eq. 9.
	Left bool
}

// Classes returns C.
func (t *Tree) Classes() int { return len(t.leaves) }

// Splits returns the number of internal nodes: C−1, or 0 of the zero Tree.
func (t *Tree) Splits() int { return len(t.splits) }

// Depth returns the number of decisions on the longest path.
func (t *Tree) Depth() int { return t.depth }

// All walks the nodes with their positions in preorder: parents before
// children, left before right.
func (t *Tree) All() iter.Seq2[int, Node] {
	return func(yield func(int, Node) bool) {
		for i, n := range t.nodes {
			if !yield(i, n) {
				return
			}
		}
	}
}

// Path returns P^c, the decisions from the root to the leaf of a class; there are
// none in a tree of one class.
func (t *Tree) Path(class int) ([]Decision, error) {
	if class < 0 || class >= t.Classes() {
		return nil, fmt.Errorf("path: class %d is not among the %d of the tree", class, t.Classes())
	}
	at := t.leaves[class]
	path := make([]Decision, t.nodes[at].Depth)
	for i := len(path) - 1; i >= 0; i-- {
		parent := t.nodes[at].Parent
		path[i] = Decision{Split: t.nodes[parent].Split, Left: t.nodes[parent].Left == at}
		at = parent
	}
	return path, nil
}

// Split returns C_l and C_r, the classes on the two sides of a split in the order
// of their leaves. It takes time proportional to their number.
func (t *Tree) Split(split int) (left, right []int, err error) {
	if split < 0 || split >= t.Splits() {
		return nil, nil, fmt.Errorf("split %d is not among the %d of the tree", split, t.Splits())
	}
	n := t.nodes[t.splits[split]]
	return t.under(n.Left), t.under(n.Right), nil
}

// A Span is the range of leaves under a split, counted from the left: Lo … Mid−1
// are on its left, Mid … Hi−1 on its right.
type Span struct{ Lo, Mid, Hi int }

// Spans returns the span of every split, and the class of every leaf from the
// left.
func (t *Tree) Spans() (spans []Span, class []int) {
	before := make([]int, len(t.nodes)+1) // number of leaves before every node
	for i, n := range t.nodes {
		before[i+1] = before[i]
		if n.Class >= 0 {
			before[i+1]++
			class = append(class, n.Class)
		}
	}
	for _, at := range t.splits {
		spans = append(spans, Span{before[at], before[t.nodes[at].Right], before[t.end[at]]})
	}
	return spans, class
}

// under returns the classes at and below a position.
func (t *Tree) under(at int) []int {
	var classes []int
	for _, n := range t.nodes[at:t.end[at]] {
		if n.Class >= 0 {
			classes = append(classes, n.Class)
		}
	}
	return classes
}

// preorder lists the classes of the leaves, and internal for every split.
func (t *Tree) preorder() []int {
	list := make([]int, len(t.nodes))
	for i, n := range t.nodes {
		list[i] = n.Class
	}
	return list
}

var errPreorder = errors.New("the list of nodes does not form a binary tree")

// assemble builds and validates the tree that preorder describes.
func assemble(preorder []int) (*Tree, error) {
	if len(preorder)%2 == 0 || len(preorder) > 2*MaxClasses-1 {
		return nil, fmt.Errorf("%d nodes: a tree of C classes has 2C−1, C between 1 and %d", len(preorder), MaxClasses)
	}
	t := &Tree{nodes: make([]Node, len(preorder))}
	if err := t.link(preorder); err != nil {
		return nil, err
	}
	if err := t.number(preorder); err != nil {
		return nil, err
	}
	return t, t.checkOrder()
}

// link sets parents, children and depths. waiting holds the splits without a
// right child so far.
func (t *Tree) link(preorder []int) error {
	waiting := make([]int, 0, 64)
	parent := -1
	for i, class := range preorder {
		if i > 0 && parent < 0 {
			return errPreorder
		}
		t.nodes[i] = Node{Class: class, Split: -1, Parent: parent, Left: -1, Right: -1}
		if parent >= 0 {
			t.adopt(parent, i)
		}
		if class == internal {
			waiting = append(waiting, i)
			parent = i
			continue
		}
		parent = -1
		if last := len(waiting) - 1; last >= 0 {
			parent, waiting = waiting[last], waiting[:last]
		}
	}
	if parent >= 0 {
		return errPreorder
	}
	return nil
}

func (t *Tree) adopt(parent, child int) {
	p := &t.nodes[parent]
	if child == parent+1 {
		p.Left = child
	} else {
		p.Right = child
	}
	t.nodes[child].Depth = p.Depth + 1
	t.depth = max(t.depth, p.Depth+1)
}

// number finds the leaf of every class and numbers the splits.
func (t *Tree) number(preorder []int) error {
	t.leaves = slices.Repeat([]int{-1}, (len(preorder)+1)/2)
	t.splits = make([]int, 0, len(preorder)/2)
	for i, class := range preorder {
		switch {
		case class == internal:
			t.nodes[i].Split = len(t.splits)
			t.splits = append(t.splits, i)
		case class < 0 || class >= len(t.leaves):
			return fmt.Errorf("class %d is outside 0 … %d", class, len(t.leaves)-1)
		case t.leaves[class] >= 0:
			return fmt.Errorf("class %d has two leaves", class)
		default:
			t.leaves[class] = i
		}
	}
	return nil
}

// checkOrder checks that the smallest class below every split is on its left, and
// fills end.
func (t *Tree) checkOrder() error {
	smallest := make([]int, len(t.nodes))
	t.end = make([]int, len(t.nodes))
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := t.nodes[i]
		if n.Class >= 0 {
			smallest[i], t.end[i] = n.Class, i+1
			continue
		}
		smallest[i], t.end[i] = smallest[n.Left], t.end[n.Right]
		if smallest[n.Left] > smallest[n.Right] {
			return fmt.Errorf("split %d: the child with class %d belongs to the left", n.Split, smallest[n.Right])
		}
	}
	return nil
}
