// Package rank puts images in the order in which a person should look at them:
// those whose label would teach a model most, those unlike anything it has
// seen, those that are probably mislabelled. It also groups images of no known
// class, so that a person can name a group and let the model learn it.
//
// # Scores, higher first
//
//	entropy      of the distribution over classes, nats
//	margin       1 − (best probability − second), 0 to 1
//	variance     predictive variance, of heads that have one: gpr; gptree, averaged
//	             over the path to the most probable class
//	novelty      the head's open-set score
//	label-error  best probability of another class − that of the class given,
//	             −1 to 1: the normalised margin of confident learning
//	             (Northcutt, Jiang and Chuang, JAIR 2021). Images that the model
//	             has learned under a wrong label look less wrong to it than new
//	             ones do.
//
// # Groups
//
// [Groups] is average linkage on cosine distances, cut where the mean
// silhouette (Rousseeuw 1987) is largest. It costs O(n²) time and memory, with
// n bounded by Config.ClusterImages.
package rank
