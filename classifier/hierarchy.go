package classifier

// A Hierarchical head arranges its classes in a tree.
type Hierarchical interface {
	// Hierarchy returns the tree, the zero Branch before the base session.
	Hierarchy() Branch
}

// A Branch is a class or a split into further branches.
type Branch struct {
	// Class is the name of a class, "" at a split.
	Class string
	// Below holds the branches of a split.
	Below []Branch
}
