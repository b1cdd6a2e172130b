// Package cub reads the ready-made features of CUB-200-2011 that the Gaussian
// process papers use: res101.mat of Xian et al. (ResNet-101, 2048 values an image),
// with the official split of the data set.
//
//	features     2048×n  the embedding of an image a column (double)
//	labels       n×1     the number of the image's class, from 1
//	image_files  n×1     where the image was, a cell of text
//
// The order of the columns is not that of CUB's images.txt. Images are matched by
// the last two parts of their path, CLASS/FILE; the class is the name of that
// folder, such as 001.Black_footed_Albatross, and its number must be the label.
// Whether an image is for training or for testing stands in train_test_split.txt.
// (att_splits.mat, which comes with the features, holds zero-shot splits instead.)
// Every image must be there once in each file; anything else is an error.
package cub
