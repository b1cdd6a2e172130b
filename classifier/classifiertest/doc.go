// Package classifiertest is the contract test of classification heads: one
// suite that every method passes, in the manner of scikit-learn's
// check_estimator.
//
//	func TestContract(t *testing.T) {
//		classifiertest.Run(t, classifiertest.Factory{New: …, Load: …})
//	}
package classifiertest
