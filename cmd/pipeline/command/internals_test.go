package command

// What tests of this package see besides its exported names.
type (
	Diagnosis     = diagnosis
	ListedDataset = listedDataset
)

func Version() string { return version }
