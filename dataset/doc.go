// Package dataset finds samples: image folders ([Scan], [Walk]) and list files
// ([ReadList]), as described in docs/formats-read.md.
//
//	photos, err := dataset.Walk(ctx, folder, dataset.ScanOptions{}) // a folder in it is a class
//
// A bad entry never ends a scan: it becomes a [Problem] and the scan continues.
// File names are preserved byte for byte; [EscapePath] writes them as text.
package dataset
