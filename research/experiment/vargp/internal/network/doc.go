// Package network has the neural networks that VAR-GP is compared with (Kapoor et al.
// 2021, Table 1), which learn tasks one after the other:
//
//	VCL   Nguyen et al. 2018   mean-field Gaussian weights; the posterior of a task is the prior of the next
//	EWC   Kirkpatrick 2017     point weights, held by ½λ·Σ F·(w − w*)², F the diagonal Fisher information of old tasks
//	SI    Zenke et al. 2017    point weights, held by c·Σ Ω·(w − w*)², Ω the share of a weight in the fall of the loss
//
// All are perceptrons with ReLUs and one softmax over all classes, trained by Adam.
// VCL draws activations instead of weights (local reparameterisation): with x the
// inputs of a layer, x·M + b is their mean and x²·e^V + e^{v_b} their variance. With a
// coreset, some examples of each task (k-centre) are kept out of its training; for
// predictions the posterior goes on learning from those of all tasks.
//
// Weights are a vector: for each layer W (in×out), row by row, and then b.
package network
