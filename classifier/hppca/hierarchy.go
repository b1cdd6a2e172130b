package hppca

import "github.com/seed-90d10d51/pipeline/classifier"

// Hierarchy implements classifier.Hierarchical: super-classes without classes
// are left out.
func (h *HPPCA) Hierarchy() classifier.Branch {
	m := h.Model()
	if !m.Fitted() {
		return classifier.Branch{}
	}
	tree := m.Shared.tree
	below := make([][]classifier.Branch, len(tree.lowest().nodes))
	for i, c := range m.Classes.Values() {
		below[c.super] = append(below[c.super], classifier.Branch{Class: m.Classes.Names()[i]})
	}
	for l := len(tree.levels) - 1; l > 0; l-- {
		above := make([][]classifier.Branch, len(tree.levels[l-1].nodes))
		for node, parent := range tree.levels[l].parent {
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
