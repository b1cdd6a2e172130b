package vargp

import "github.com/seed-90d10d51/pipeline/gp/vargp"

// A printed row is one of the paper's Table 1: accuracy after the last task in
// percent, mean ± standard deviation of five runs where it says so.
type printed struct {
	method          string
	variant         vargp.Variant // empty for methods that are not implemented here
	split, permuted string
}

// table1 is Table 1. CS is the number of images that a coreset keeps; brackets
// hold the sizes of hidden layers.
var table1 = [...]printed{
	{"VAR-GP", vargp.Full, "90.57 ± 1.06", "97.20 ± 0.08"},
	{"block-diagonal", vargp.BlockDiagonalPublished, "78.64 ± 1.41", "96.31 ± 0.42"},
	{"MLE hypers", vargp.PointHypers, "10.09 ± 0.40", "10.07 ± 0.15"},
	{"global", vargp.Global, "39.31 ± 0.28", "46.02 ± 1.09"},
	{"SI", "si", "98.9*", "86.02"},
	{"EWC", "ewc", "63.1*", "84.11"},
	{"VCL [100]", "", "19.90 ± 0.14", "82.94 ± 0.85"},
	{"VCL [100] + CS(50)", "", "76.21 ± 2.02", "85.80 ± 0.41"},
	{"VCL [100] + CS(100)", "", "81.90 ± 1.64", "86.45 ± 0.26"},
	{"VCL [100, 100]", "vcl", "19.91 ± 7.79", "94.31 ± 1.05"},
	{"VCL [100, 100] + CS(50)", "", "71.89 ± 5.06", "95.43 ± 0.39"},
	{"VCL [100, 100] + CS(100)", "vcl-coreset", "75.54 ± 1.06", "95.06 ± 0.22"},
}

// on returns the accuracy on the data, or "" for data that the paper does not have.
func (p printed) on(data string) string {
	switch data {
	case Split:
		return p.split
	case Permuted:
		return p.permuted
	}
	return ""
}
