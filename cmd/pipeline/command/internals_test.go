package command

// What tests of this package see besides its exported names.
type (
	Diagnosis     = diagnosis
	ListedDataset = listedDataset
	SetupLibrary  = setupLibrary
)

const (
	LibraryFound     = libraryFound
	LibraryInstalled = libraryInstalled
	LibraryMissing   = libraryMissing
)

func Version() string { return version }
