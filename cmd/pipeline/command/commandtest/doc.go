// Package commandtest runs commands in tests: in this process, or in another one that
// can be killed. Each Bed has a folder and a cache of its own.
package commandtest
