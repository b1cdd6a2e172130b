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
//	doubt        how many images an answer would settle, if those with a higher score are
//	             asked before it (package label/adapt)
//	label-error  x/(1+|x|), with x = log(p/g), the probability p of the best other class
//	             and g of the class given; −1 to 1
//
// # Wrong labels
//
// A model that has learned a wrong label defends it. [Ranking.LeaveOut] therefore asks
// models that have not learned an image ([model.Model.LeaveOut]): in many dimensions a model
// that has learned a hundred images is sure of all of them, so that what it says is not asked.
// The odds tell a hopeless class from a weak one, which the difference p − g of the
// normalised margin (Northcutt, Jiang and Chuang, JAIR 2021) does not.
// docs/results/labelling.md compares.
//
// # Images that differ
//
// Of the images that teach most, those with the highest scores are often alike: with
// Config.Top they are clustered, and of each cluster a typical one is taken, as in diverse
// mini-batches (Zhdanov 2019). The choice is among as many images as are probably labelled
// wrongly: where a model knows little, what is typical teaches most, and later what is
// uncertain.
//
// # Groups
//
// [Groups] is agglomerative clustering by the likelihood ratio of the
// two-covariance model, exact for clusters of any size: the pair that is most
// probably one class is merged, until every pair is more probably two, so that
// the number of groups follows from the data (speaker diarisation: Sell and
// Garcia-Romero 2014, who average over pairs and calibrate a threshold instead;
// Bayesian hierarchical clustering: Heller and Ghahramani 2005). The covariances
// are those of the head, of the embeddings that the model keeps, or multiples of
// I ([model.Predictor.Compare]). Near-duplicates, by the cosine of embeddings,
// are one row. Cost: O(n²d) time and 4n² bytes, with n bounded by
// Config.ClusterImages.
//
// # First labels
//
// [Config.First] chooses images to label when there is no model yet: k-means with as
// many clusters as labels, and of each cluster the image in its densest part, so
// that the images are typical and differ from each other (TypiClust: Hacohen, Dekel
// and Weinshall, ICML 2022). Uncertain images, which teach most later, teach less
// than random ones while a model has a handful of labels.
package rank
