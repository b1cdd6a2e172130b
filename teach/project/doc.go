// Package project is the folder of a person's work with the photos of another folder:
//
//	project.json   which photos, and which network
//	photos.model   MODEL, with photos.model.journal and photos.model.base beside it (package teach)
//	names.txt      the names that the model began with, if it began with names
//	exports/       results
//
// Photos are known by their content (package teach), so a project that is copied to another
// machine goes on with the photos wherever they lie there.
package project
