// Package closedset compares heads that learn all their classes at once, for
// various numbers of classes: Table 1 and Fig. 4 of Achituve et al. 2021.
//
//	setting         what
//	Rows            heads with their own settings; Grid holds values to choose from
//	Classes         numbers of classes
//	PerClass        training images per class
//	HeldOut         at most so many held-out images per class, half to choose settings on, half to test
//	Runs            draws of classes and images; the classes of a run are nested
//	GridRuns        draws on whose first half settings are chosen
//	GridMost        largest number of classes at which settings are chosen
//
// Every combination of a row's grid is fitted in GridRuns draws at every number
// of classes up to GridMost. The combination with the highest mean accuracy on
// the first half of the held-out images (on ties the first in the order of keys
// and values) is tested on the second half in all draws. Numbers of classes
// above GridMost reuse the choice made at the largest one below. Within a draw
// no test image influences the choice, but draws share one pool of images.
//
// A head that refuses so many classes leaves an empty cell, as in the paper.
//
// Cost: (combinations · GridRuns + Runs) fits and predictions per cell. Every
// choice and every draw of a cell is saved when it is finished.
package closedset
