package gptree

import (
	"fmt"

	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/internal/random"
)

// StickBreaking returns the tree of the stick-breaking likelihood (eq. 8): split
// k separates class k, on its left, from all later ones.
func StickBreaking(classes int) (*Tree, error) {
	if err := checkClasses(classes); err != nil {
		return nil, fmt.Errorf("stick-breaking tree: %w", err)
	}
	preorder := make([]int, 0, 2*classes-1)
	for c := range classes - 1 {
		preorder = append(preorder, internal, c)
	}
	return assemble(append(preorder, classes-1))
}

// RandomBalanced returns a tree of minimal depth whose splits divide their
// classes at random into halves, as equal as possible.
func RandomBalanced(classes int, seed uint64) (*Tree, error) {
	if err := checkClasses(classes); err != nil {
		return nil, fmt.Errorf("random balanced tree: %w", err)
	}
	return build(classes, func(classes []int) ([]bool, error) {
		right := inOrder(len(classes))
		rng := random.Stream(seed, "gptree/random", classes...)
		rng.Shuffle(len(right), func(i, j int) { right[i], right[j] = right[j], right[i] })
		return right, nil
	})
}

// Join returns the tree of §3.4: a new root with base on its left and novel on
// its right. Class k of novel becomes class C_base + k. Split 0 is the new root,
// split k of base becomes 1 + k, split k of novel becomes C_base + k. Neither
// tree changes.
func Join(base, novel *Tree) (*Tree, error) {
	for _, t := range []*Tree{base, novel} {
		if t == nil || t.Classes() == 0 {
			return nil, fmt.Errorf("join: a tree has no classes")
		}
	}
	if err := checkClasses(base.Classes() + novel.Classes()); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	preorder := append([]int{internal}, base.preorder()...)
	for _, class := range novel.preorder() {
		if class >= 0 {
			class += base.Classes()
		}
		preorder = append(preorder, class)
	}
	return assemble(preorder)
}

func checkClasses(classes int) error {
	if classes < 1 || classes > MaxClasses {
		return fmt.Errorf("%d classes, want 1 … %d", classes, MaxClasses)
	}
	return nil
}

// halve divides the classes of a node, two or more in ascending order, into two
// non-empty sides: right[i] is the side of classes[i].
type halve func(classes []int) (right []bool, err error)

// build grows a tree over the classes from its root.
func build(classes int, by halve) (*Tree, error) {
	preorder, err := grow(make([]int, 0, 2*classes-1), dense.Range(0, classes), by)
	if err != nil {
		return nil, err
	}
	return assemble(preorder)
}

func grow(preorder, classes []int, by halve) ([]int, error) {
	if len(classes) == 1 {
		return append(preorder, classes[0]), nil
	}
	right, err := by(classes)
	if err != nil {
		return nil, err
	}
	l, r := part(classes, right)
	preorder, err = grow(append(preorder, internal), l, by)
	if err != nil {
		return nil, err
	}
	return grow(preorder, r, by)
}

// part divides classes into sides without reordering them; the side of the first
// class is the left one.
func part(classes []int, right []bool) (l, r []int) {
	for i, c := range classes {
		if right[i] == right[0] {
			l = append(l, c)
		} else {
			r = append(r, c)
		}
	}
	return l, r
}

// inOrder puts the first half of n classes, rounded up, on the left.
func inOrder(n int) []bool {
	right := make([]bool, n)
	for i := (n + 1) / 2; i < n; i++ {
		right[i] = true
	}
	return right
}
