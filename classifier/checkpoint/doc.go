// Package checkpoint keeps the state of long trainings in files, so that a command
// that was killed goes on where it was and ends with the same bytes as one that
// was not.
//
//	KEY.safetensors  what a training came to last; KEY says which training it is
//
// Every file is written under another name, synced, and renamed; a damaged one
// is said and not used. There are no times in any file.
package checkpoint
