// Package training trains a projection as a long job. It writes a checkpoint
// after every epoch, so a run that was killed resumes there and ends with the
// same bytes as an uninterrupted one.
//
//	checkpoint.safetensors  everything needed to resume, as of the last complete epoch
//	training.csv            epoch,phase,rate,loss,accuracy,nll: one row per epoch;
//	                        accuracy and nll on held-out base examples
//	training.png, .svg      held-out accuracy by epoch, at the end
//	loss.png, .svg          mean loss by epoch, at the end
//
// Every file is written under a temporary name, synced, and renamed. No file
// contains timestamps. Cost: a checkpoint holds about 40 bytes per parameter
// and is written in milliseconds.
package training
