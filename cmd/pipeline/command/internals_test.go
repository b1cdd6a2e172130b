package command

// What tests of this package see besides its exported names.
type (
	Diagnosis     = diagnosis
	Learned       = learned
	ListedDataset = listedDataset
	SetupLibrary  = setupLibrary
)

const (
	ExportOutput     = exportOutput
	MetadataClasses  = metadataClasses
	MetadataModel    = metadataModel
	MetadataMethod   = metadataMethod
	MetadataBackbone = metadataBackbone
	LibraryFound     = libraryFound
	LibraryInstalled = libraryInstalled
	LibraryMissing   = libraryMissing
)

func MethodsWith[T any]() []string { return methodsWith[T]() }

func Version() string { return version }
