// Package ablation measures how the accuracy of PPCA depends on the number of
// components q, the noise variance λ, and the size of the backbone's input:
// Tables 3.2 to 3.4 of Wang, "Incremental and Hierarchical Probabilistic PCA",
// 2023, in shape.
//
//	symbol      field   meaning
//	q           Q       components of a class
//	λ           Lambda  noise variance; 0 means chosen on the base session
//	input size  Inputs  a feature folder for each size
//
// The accuracy is that over all classes after the last session, which is what
// the paper's PPCA rows hold although its tables call it average; the average
// over sessions stands in results.json. PPCA learns every class alone, so that
// the order of sessions does not change it.
//
// Input sizes are feature folders, made with pipeline embed once for each size
// (preprocess.size, preprocess.crop and extractor.side). Published rows stand
// below ours, with their data set and backbone; they are no competitors of
// ours where those differ.
//
// Cost: inputs × q × λ × runs fits of PPCA, each kept when it is finished.
package ablation
