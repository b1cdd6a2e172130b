// Package hppca is hierarchical PPCA: the class Gaussians of package ppca,
// grouped under super-classes, so that an example is compared with the classes
// of a few super-classes only, about √K of K.
//
// Source: Wang, "Incremental and Hierarchical Probabilistic PCA", 2023,
// chapters 4 and 5.
//
//	symbol   field          shape  meaning
//	μ_k L_k D_k  class      d, q×d, q  class model (eq. 4.5 to 4.7; lowrank.Gaussian)
//	μ L D    level.nodes    d, r×d, r  super-class model (eq. 4.13, 4.14)
//	K_s      step.items     –      the classes of super-class s
//	S        S              1      number of super-classes
//	T        T              1      number of super-classes that an example visits
//	q, r     Q, R           1      maximum components of a class, of a super-class
//	λ        Lambda         1      noise variance, common to all
//
// Classification (Algorithm 1): score all super-classes, visit the T best, take
// the best of their classes. Scores are −½(r + log|Σ|), or −½r without
// log-determinant as in the paper. Training (Algorithm 2): fit the classes;
// seed by k-means++ with the Bhattacharyya distance (Algorithm 3), starting
// from (μ_j, I) at each seed; then assign every class to the super-class with
// the smallest KL divergence (eq. 4.11) and give every super-class the moments
// of its classes (eq. 4.13, 4.14), until the assignments repeat.
//
// The log-probabilities are a distribution over all classes. Visited classes
// have their own densities. A super-class has the moments of the equal mixture
// of its n classes; none of these can exceed n times the density of the
// mixture. An unvisited class gets that bound, n times the density of the
// super-class (of the nearest node above it that was scored), but at most half
// of the best visited class's density, so that the most probable class is
// always that of Algorithm 1. The bound holds for the mixture; the super-class
// is a Gaussian with the mixture's moments, so that single examples can lie
// above it. With T = S every class is visited and the results are those of
// ppca.
//
// Later sessions: a new class joins the super-class with the smallest KL
// divergence; super-classes stay the same until Refresh, or until the next
// change if Config.Refresh is set. After a refresh they are what one session
// with all classes would have produced. Forgetting the last class of a
// super-class removes the super-class.
//
// Presets: "default" scales embeddings to length 1 and uses the
// log-determinant; "paper" does neither. Normalize and LogDet, when set,
// override the preset.
//
// Extensions of the paper: Config.Levels adds super-classes of super-classes
// above, clustered in the same way, T visited at each level; Config.Gap visits
// fewer than T if the best are clear.
//
// Where the paper leaves a choice open or is wrong:
//   - Algorithm 3 computes all K² distances; only those to the chosen seeds are
//     used, S·K. Distances are between classes; (μ_j, I) is where k-means
//     starts.
//   - The official notebook samples by the mean term of eq. 4.9 only:
//     SeedDistance "mean".
//   - Eigenvalues of eq. 4.14 contain λ; D − λ is stored.
//   - An empty super-class takes the class that is farthest from its own.
//   - Truncation to r components means that the sum of divergences need not
//     fall in every round; assignments that come back after several rounds end
//     the clustering too, as does MaxIter.
//   - Clustering raw data (5.1.4, Cluster "raw"): k-means on 20 examples per
//     class; a class goes to the cluster with most of its examples, among equals
//     the first; clusters without a class are dropped; the models of the
//     super-classes follow from their classes as above.
//
// Cost in multiply-adds, K classes: fitting as ppca; seeding O(SKq²d); a round
// of clustering O(SKqrd) for the super-classes that changed and O(Kqd²) for
// their models; scoring an example O((Sr + Aq)d), where A is the number of
// classes visited, and O(C) for the log-probabilities. Memory 4qd + 12d bytes
// per class, and the exact statistics (package moments) as for ppca.
package hppca
