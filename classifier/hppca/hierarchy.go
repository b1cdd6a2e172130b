package hppca

import "github.com/seed-90d10d51/pipeline/classifier"

var _ classifier.Hierarchical = (*HPPCA)(nil)

// Hierarchy implements classifier.Hierarchical: super-classes without classes
// are left out.
func (h *HPPCA) Hierarchy() classifier.Branch {
	if h.scorer == nil {
		return classifier.Branch{}
	}
	below := make([][]classifier.Branch, len(h.tree.lowest().nodes))
	for i, c := range h.classes.Values() {
		below[c.super] = append(below[c.super], classifier.Branch{Class: h.classes.Names()[i]})
	}
	for l := len(h.tree.levels) - 1; l > 0; l-- {
		above := make([][]classifier.Branch, len(h.tree.levels[l-1].nodes))
		for node, parent := range h.tree.levels[l].parent {
			if len(below[node]) > 0 {
				above[parent] = append(above[parent], classifier.Branch{Below: below[node]})
			}
		}
		below = above
	}
	var root classifier.Branch
	for _, branches := range below {
		if len(branches) > 0 {
			root.Below = append(root.Below, classifier.Branch{Below: branches})
		}
	}
	return root
}
