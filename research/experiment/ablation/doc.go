// Package ablation measures how the accuracy of PPCA depends on the number of
// components q, the noise variance λ, and the size of the backbone's input:
// Tables 3.2 to 3.4 of Wang, "Incremental and Hierarchical Probabilistic PCA",
// 2023, in shape.
//
//	symbol      field   meaning
//	q           Q       components of a class
//	λ           Lambda  noise variance; 0 means chosen on the base session
//	input size  Inputs  one feature folder per size
//
// Accuracy is taken over all classes after the last session, as in the paper's
// PPCA rows, although its tables call it average; the average over sessions is
// in results.json. PPCA learns each class independently, so the order of
// sessions does not change it.
//
// Input sizes are feature folders, made with pipeline embed once per size
// (preprocess.size, preprocess.crop and extractor.side). Published rows follow
// ours, with their data set and backbone; where those differ they are not
// comparable.
//
// Cost: inputs × q × λ × runs fits of PPCA, each saved when it is finished.
package ablation
