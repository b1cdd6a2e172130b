// Package vargp is Variational Auto-Regressive Gaussian Processes (Kapoor,
// Karaletsos and Bui, "Variational Auto-Regressive Gaussian Processes for
// Continual Learning", ICML 2021): independent functions with one hyper-
// posterior and a softmax over them, learned task by task, each task with a new
// set of inducing inputs whose posterior is auto-regressive on the old ones.
//
//	symbol       here                 shape    meaning
//	x            Task.X               N×d      inputs
//	f_h          head                 –        function h, one for each class
//	θ            hyper                1+d      log γ, log σ_1 … log σ_d, mean-field Gaussian
//	Z_t          block.z              M×d      inducing inputs of task t, shared by heads or each head's own
//	m_t, S_t     block.mean, .chol    M, M×M   q(u_t|u_<t) = N(A_t·u_<t + m_t, S_t), S_t = chol·cholᵀ, softplus diagonal
//	φ            network              –        weights and biases of g_φ in front of the kernel, where there is one
//	β            Config.Beta          1        weight of KL[q_t(θ) ‖ q_{t−1}(θ)]
//
// The kernel is γ²·exp(−½‖(x−x')/σ‖²): eq. 20 of the paper lacks the minus sign
// and prints γ. The prior of θ is N(0, I) for the first task, q_{t−1}(θ) later.
//
// The negative bound (eq. 5, 8) is, for each of a few draws of θ,
//
//	β·KL(θ) + KL[q(u_t|u_<t) ‖ p(u_t|u_<t)] + (N/|B|)·Σ_B −E log softmax(f)_y
//
// the last by draws of f from its marginals, all with gradients through the
// draws (package internal/autodiff), and Yogi as the optimiser.
//
// # Closed form of q(u_≤t) (eq. 22)
//
// With K = L·Lᵀ of all inducing inputs, block t of L⁻¹u is
// L_tt⁻¹(u_t − A_t·u_<t). So e_t = u_t − A_t·u_<t, independent N(m_t, S_t), and
// with a = L⁻¹k(Z, x) and b_t = L_tt⁻ᵀ·a_t
//
//	E f(x) = Σ_t b_tᵀ·m_t,   Var f(x) = γ² − ‖a‖² + Σ_t b_tᵀ·S_t·b_t
//
// One Cholesky factor serves all heads of a group; neither A_t nor the
// covariance of eq. 22 is ever formed.
//
// # Variants
//
// BlockDiagonal, PointHypers and Global are the ablations of Table 1, Retrain is
// Re-VAR-GP (appendix B.2). The additional terms of eq. 16 and eq. 19 are
// computed exactly, in closed form, not by draws of u. Global needs no
// q(u_{t−1}) but the last.
//
// RetrainPublished is Re-VAR-GP as the authors' program trains it. The last term
// of eq. 19 alone knows of old data. The program estimates it by draws of ũ that
// let no derivative through (sample, where rsample was meant), so that what is
// trained never hears of it, and forgets as Fig. 7 shows. (Its frozen parameters
// also share their memory with the trained ones; mending that alone changes
// nothing.) With the derivative Re-VAR-GP keeps old tasks: docs/results/vargp.md.
//
// # Cold posteriors
//
// Task.Temperature T weighs the divergence of the inducing outputs. Below 1 the
// posterior is colder than Bayes' (Wenzel et al. 2020), for tasks with few
// examples of classes that should count as much as those with many: at T = 1/w
// the bound is, up to a factor, that of examples that are there w times and
// of a w-fold β, so that q(θ) is not drawn away by what few examples say.
//
// # Deep kernel (appendix B.3)
//
// With Config.Network the kernel is of g_φ(x), a network with relus between its
// layers; θ then has a length-scale for each of its outputs. φ is a point estimate
// without a prior, trained with every task from where the last one left it, and
// inducing inputs stay in the space of x: those of old tasks, whose posteriors
// are frozen, move with φ in the space of the kernel, which is how it forgets.
// One pass of the network serves all draws of θ. The paper does not say how φ
// starts; here it starts as in He et al. 2015.
//
// # Deviations from the paper
//
// S_t may start at the prior's conditional covariance (FromPrior, the default)
// instead of I: KL starts at 0, and fewer steps are needed. Early stopping may
// keep the best epoch (Best). q(θ) starts with a standard deviation of e⁻²;
// the paper does not say, the official code has e⁻¹. Inducing inputs may be shared by all heads, as the
// paper's Algorithm 1 has them; the official code has a set for each head
// (OwnInputs).
//
// # Assumptions and cost
//
// The number of inducing inputs n grows with every task, and the cost of a step
// with its cube: for each θ and group, about 3·(n³/3 + n²B + nBd + H·nMB/2)
// multiplications for a batch of B, n = ΣM, nearly all in large products on the
// backend of Model.On. bᵀ·S_t·b of all heads is one product (type pack) where they
// are many; those that are clones of each other in an old task count once. Memory
// a step: as many numbers as the graph holds, (n + d)·B + nMB/2 for each θ, or
// H·n·B where heads are few. Float64.
//
// Groups of heads, one without own inputs, are computed side by side for each θ.
//
// Repeatability: every draw comes from a PCG stream of the seed, the task, the
// step and the number of the draw; sums have one order. The same seed gives the
// same bits with any number of threads.
package vargp
