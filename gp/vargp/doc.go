// Package vargp implements Variational Auto-Regressive Gaussian Processes
// (Kapoor, Karaletsos and Bui, "Variational Auto-Regressive Gaussian Processes
// for Continual Learning", ICML 2021): independent functions with one posterior
// over hyper-parameters and a softmax on top, learned task by task. Each task
// adds a set of inducing inputs whose posterior is auto-regressive on the old
// ones.
//
//	symbol       here                 shape    meaning
//	x            Task.X               N×d      inputs
//	f_h          head                 –        function h, one per class
//	θ            hyper                1+d      log γ, log σ_1 … log σ_d, mean-field Gaussian
//	Z_t          block.z              M×d      inducing inputs of task t, shared by all heads or separate for each
//	m_t, S_t     block.mean, .chol    M, M×M   q(u_t|u_<t) = N(A_t·u_<t + m_t, S_t), S_t = chol·cholᵀ,
//	                                    with a softplus diagonal
//	φ            network              –        weights and biases of g_φ in front of the kernel, if any
//	β            Config.Beta          1        weight of KL[q_t(θ) ‖ q_{t−1}(θ)]
//
// The kernel is γ²·exp(−½‖(x−x')/σ‖²); eq. 20 of the paper lacks the minus sign
// and has γ for γ². The prior of θ is N(0, I) for the first task and q_{t−1}(θ)
// later.
//
// The negative bound (eq. 5, 8) is, for each of a few draws of θ,
//
//	β·KL(θ) + KL[q(u_t|u_<t) ‖ p(u_t|u_<t)] + (N/|B|)·Σ_B −E log softmax(f)_y
//
// with the last term estimated by draws of f from its marginals. Gradients flow
// through the draws (package gp/vargp/internal/autodiff); the optimiser is Yogi.
//
// # Closed form of q(u_≤t) (eq. 22)
//
// With K = L·Lᵀ of all inducing inputs, block t of L⁻¹u is
// L_tt⁻¹(u_t − A_t·u_<t). So the e_t = u_t − A_t·u_<t are independent
// N(m_t, S_t), and with a = L⁻¹k(Z, x) and b_t = L_tt⁻ᵀ·a_t
//
//	E f(x) = Σ_t b_tᵀ·m_t,   Var f(x) = γ² − ‖a‖² + Σ_t b_tᵀ·S_t·b_t
//
// All heads of a group share one Cholesky factor; neither A_t nor the covariance
// of eq. 22 is ever formed.
//
// # Variants
//
// BlockDiagonal, PointHypers and Global are the ablations of Table 1, Retrain is
// Re-VAR-GP (appendix B.2). The additional terms of eq. 16 and eq. 19 are
// computed exactly, in closed form, not by draws of u. Global needs only the
// last q(u_{t−1}).
//
// BlockDiagonalPublished is what the authors' program calls block-diagonal, whose
// figures Table 1 prints: their mask of the conditional mean is in the KL divergence
// alone, and predictions are still auto-regressive.
//
// RetrainPublished is Re-VAR-GP as the authors' program trains it. Only the last
// term of eq. 19 depends on old data. The program estimates it by draws of ũ that
// block the derivative (sample, where rsample was meant), so the term has no
// effect on training and the model forgets, as Fig. 7 shows. (Its frozen
// parameters also share memory with the trained ones; fixing only that changes
// nothing.) With the derivative Re-VAR-GP retains old tasks: see
// docs/results/vargp.md.
//
// # Cold posteriors
//
// Task.Temperature T weighs the divergence of the inducing outputs. Below 1 the
// posterior is colder than Bayes' (Wenzel et al. 2020), for tasks with few
// examples of classes that should count as much as those with many. At T = 1/w
// the bound is, up to a factor, that of w copies of each example and w·β, so that
// a few examples do not pull q(θ) away.
//
// # Deep kernel (appendix B.3)
//
// With Config.Network the kernel acts on g_φ(x), a network with ReLUs between its
// layers; θ then has a length-scale for each of its outputs. φ is a point estimate
// without a prior, trained further with every task. Inducing inputs stay in the
// space of x: those of old tasks, whose posteriors are frozen, move with φ in the
// space of the kernel, which causes forgetting. All draws of θ share one pass of
// the network. The paper does not say how φ is initialised; here as in He et al.
// 2015.
//
// # Deviations from the paper
//
// S_t can start at the prior's conditional covariance (FromPrior, the default)
// instead of I: KL then starts at 0 and fewer steps are needed. Early stopping
// can return the best epoch (Best). The paper does not say where q(θ) starts. Here
// γ starts at 1, length-scales at the spread of the data, and the standard
// deviation of their logarithms is e⁻²; the official code has 0.5, 0.5 and e⁻¹
// (StartAt). m_t starts at 0 instead of at draws from N(0, ½²). All heads can share
// their inducing inputs, as in the paper's Algorithm 1; the official code has a
// separate set for each head (OwnInputs).
//
// # Assumptions and cost
//
// The number of inducing inputs n grows with every task, and the cost of a step
// with its cube: for each θ and group, about 3·(n³/3 + n²B + nBd + H·nMB/2)
// multiplications for a batch of B, n = ΣM, nearly all in large products on the
// backend of Model.On. With many heads, bᵀ·S_t·b of all of them is one product
// (type pack); heads that are clones of each other in an old task count once. A
// step needs memory for the numbers in its graph: (n + d)·B + nMB/2 for each θ, or
// H·n·B with few heads. All computation is in float64.
//
// For each θ, groups of heads (a single group unless OwnInputs is set) are
// computed in parallel.
//
// Repeatability: every draw comes from a PCG stream derived from the seed, the
// task, the step and the number of the draw, and sums have a fixed order. The
// same seed gives the same bits for any number of threads.
package vargp
