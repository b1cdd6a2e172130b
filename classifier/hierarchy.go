package classifier

// A Branch is a class or a split into further branches.
type Branch struct {
	// Class is the name of a class, "" at a split.
	Class string
	// Below holds the branches of a split.
	Below []Branch
}
