package model

import "testing"

// TestBatchIsSpelledAsTheModel: a model may have a class in the form of macOS.
func TestBatchIsSpelledAsTheModel(t *testing.T) {
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	b := Batch{Labels: []string{composed, "b"}}
	if got := b.spelled([]string{decomposed}).Labels; got[0] != decomposed || got[1] != "b" || b.Labels[0] != composed {
		t.Errorf("labels %+q", got)
	}
	if got := sameClass([]string{decomposed}, composed); got != decomposed {
		t.Errorf("class %+q", got)
	}
	if got := sameClass([]string{composed}, decomposed); got != composed {
		t.Errorf("class %+q", got)
	}
}
