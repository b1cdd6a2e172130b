// Package closedset compares heads that learn all their classes at once, by
// the number of classes: Table 1 and Fig. 4 of Achituve et al. 2021.
//
//	setting         what
//	Rows            heads with settings of their own; Grid are values to choose from
//	Classes         numbers of classes
//	PerClass        training images a class
//	HeldOut         most held-out images a class, half to choose settings on, half to test
//	Runs            draws of classes and images; the classes of a run are nested
//	GridRuns        draws whose accuracy on the first half chooses
//	GridMost        largest number of classes at which is chosen
//
// Every combination of a row's grid is fitted in GridRuns draws at every
// number of classes up to GridMost, and the one with the highest mean accuracy
// on the first half of the held-out images is tested on the second half in all
// draws; equal ones give way to the first in the order of keys and values.
// Larger numbers of classes take the choice of the largest at which was
// chosen. No test image takes part in a choice: the halves of a draw are those
// of its own images, but draws share their pool.
//
// A head that refuses so many classes has an empty cell; the paper has too.
//
// Cost: (combinations · GridRuns + Runs) fits and predictions for every cell.
// Each choice and each draw of each cell is kept when it is finished.
package closedset
