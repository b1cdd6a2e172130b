package model_test

import (
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/classifier/vargp"
	"github.com/seed-90d10d51/pipeline/model"
)

// TestMethodThatCannotForget: the message does not offer to forget classes.
func TestMethodThatCannotForget(t *testing.T) {
	head, err := vargp.New(vargp.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Model{Method: "vargp", Predictor: &model.Predictor{Head: head}}
	if err := m.ForgetSamples(model.Batch{}); err == nil || !strings.Contains(err.Error(), "vargp cannot forget") || strings.Contains(err.Error(), "whole classes") {
		t.Errorf("%v", err)
	}
}
