package holdout

// Folds deals the groups of each class into folds: groups[c][i] is the group of example i
// of class c (Groups), and folds[c][i] the fold that holds it out, −1 in a class of one
// group. A class of n groups has at most ⌈n/parts⌉ of them in a fold; if together, every
// class starts with fold 0.
func Folds(groups [][]int, parts int, together bool) (folds [][]int) {
	next := 0
	for _, of := range groups {
		n, fold := count(of), make([]int, len(of))
		if together {
			next = 0
		}
		for i, g := range of {
			fold[i] = (next + g) % parts
			if n < 2 {
				fold[i] = -1
			}
		}
		if n > 1 {
			next += n
		}
		folds = append(folds, fold)
	}
	return folds
}

// count returns the number of groups.
func count(groups []int) int {
	n := 0
	for _, g := range groups {
		n = max(n, g+1)
	}
	return n
}

// Alone returns groups of one example each: what holding out single examples is.
func Alone(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
