// Package method knows every method by name: it makes a head from its settings
// and brings one back from a State.
package method
