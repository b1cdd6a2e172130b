// Package hierarchy measures hierarchical PPCA.
package hierarchy
