// Package export writes labels in the formats of other programs, each into a folder with
// the name of the format:
//
//	imagefolder   Hugging Face datasets: class folders with the photos, metadata.jsonl
//	coco          COCO: images, categories, and annotations of whole images or of boxes
//	camtrap-dp    Camera Trap Data Package: datapackage.json with three tables
//	label-studio  Label Studio: tasks.json, and the labelling interface config.xml
//
// Each is a label.Sink: it gets the rows one by one, keeps nothing of them in memory, and
// replaces its folder when all are written. What people decided and what the model predicts
// stay apart wherever the format can tell them apart. Photos that are rejected or set aside
// are of no class; tables have all of them. docs/formats-results.md describes every field, and a
// list reads each of the formats.
package export
