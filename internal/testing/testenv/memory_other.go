//go:build !linux

package testenv

import "testing"

// MemoryDir is tb.TempDir.
func MemoryDir(tb testing.TB) string { return tb.TempDir() }
