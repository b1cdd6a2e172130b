// Package torchpickle reads the tensors of a state dict that PyTorch saved in its legacy
// format (before version 1.6): five pickles, the last two of which describe the tensors
// and list the storages, then the numbers of every storage.
//
// A pickle is a program that can call any function of Python. The machine here runs none:
// it knows strings, numbers, lists, tuples and dicts, and it recognises the three names
// with which PyTorch describes a tensor. Everything else is refused. Reading trusts
// nothing: lengths are checked against the size of the file, the number of objects is
// bounded, and a tensor is never larger than the storage that it views.
package torchpickle
