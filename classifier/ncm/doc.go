// Package ncm is the nearest class mean classifier: each class is represented
// by the mean of its examples, and the nearest mean wins.
//
// It is the baseline that users would try first; using means of deep embeddings
// for class-incremental learning goes back to Mensink et al. 2013 and Rebuffi
// et al. 2017 (iCaRL).
//
//	symbol   field         shape  meaning
//	n, Σx    moments.Total 1, d   examples of a class and their sum, scaled to length 1 (cosine) or raw (Euclidean)
//	m        means.rows    C×d    the direction of the sum (cosine), the mean (Euclidean)
//	τ        shared.Tau    1      temperature
//	b        shared.Between 1     for the novelty
//
//	cosine     log p(c|x) = log-softmax_c  cos(x, m_c)/τ
//	euclidean  log p(c|x) = log-softmax_c −‖x−m_c‖²/2τ
//
// The novelty compares with a class that has not been seen. Class means are taken to vary
// around m₀, their mean, b = t²/w times as much as examples do around the mean of their
// class (both summed over directions, from the base session). So a class of n examples has
//
//	μ = m₀ + nb/(1+nb)·(m−m₀),   r = (1 + b/(1+nb))/(1+b) < 1
//	novelty(x) = min_c (‖x−μ_c‖²/r_c − ‖x−m₀‖²) / 2√(1−r_c)
//
// where r is how large ‖x−μ‖² is expected to be for the examples of the class, in units of
// that of ‖x−m₀‖² for those of a new one: plda's ratio with isotropic covariances. The two
// terms of an example of the class have correlation √r, and their difference a variance
// ∝ 1−r; divided by its root, it is as large for few examples of a class as for many.
//
// Assumptions: classes differ in their means and share one isotropic spread.
//
// τ calibrates the probabilities; it never changes which class wins. It is
// fitted once, on the base session, by minimising the negative log-likelihood
// of every example under means that leave it out, with a golden-section search
// on log τ, for which the objective has one minimum (it is convex in 1/τ).
// Examples that are alone in their class are left out; if none is left, a
// default is used (see DefaultTemperature). Later sessions do not change τ, and heads that
// are fitted without some examples to calibrate this one have its τ: where classes are never
// confused, a single wrong label changes τ by up to a factor of a hundred.
// Forgetting the last class makes the head unfitted again.
//
// Cost: learning O(nd), scoring O(Cd) per example, in float64. Learning and
// forgetting, of classes and single examples, are exact; order makes no
// difference beyond the last bits of a sum.
package ncm
