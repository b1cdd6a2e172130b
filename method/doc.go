// Package method is the registry of methods: it finds them by name, creates
// heads from settings and loads them from a State.
package method
