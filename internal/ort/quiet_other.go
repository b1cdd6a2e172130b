//go:build !windows

package ort

func quietly(f func() error) error { return f() }
