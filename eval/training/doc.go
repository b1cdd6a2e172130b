// Package training trains a projection as a long job: after every epoch its
// state is in a checkpoint, so that a run that was killed goes on where it was
// and ends with the same bytes as one that was not.
//
//	checkpoint.safetensors  all that training goes on from, of the last whole epoch
//	training.csv            epoch,phase,rate,loss,accuracy,nll: one row per epoch; accuracy and nll are of held-out base examples
//	training.png, .svg      held-out accuracy by epoch, at the end
//	loss.png, .svg          mean loss by epoch, at the end
//
// Every file is written under another name, synced, and renamed. There are no
// times in any file. Cost: a checkpoint holds about 40 bytes per parameter and
// is written in milliseconds.
package training
