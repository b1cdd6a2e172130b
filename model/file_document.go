package model

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/model/prior"
)

// document is the JSON inside a MODEL; arrays are tensors.
type document struct {
	Method         string               `json:"method"`
	Choice         *Choice              `json:"choice,omitempty"`
	HeadConfig     json.RawMessage      `json:"head_config,omitempty"`
	Predictor      json.RawMessage      `json:"predictor"`
	Dim            int                  `json:"dim"`
	Classes        []string             `json:"classes"`
	Provenance     embedding.Provenance `json:"provenance"`
	Prior          *prior.Description   `json:"prior,omitempty"`
	Seed           uint64               `json:"seed"`
	ToolVersion    string               `json:"tool_version"`
	ClassFrom      string               `json:"class_from,omitempty"`
	Sessions       []sessionEntry       `json:"sessions"`
	KeepStatistics bool                 `json:"keep_statistics"`
	Traces         bool                 `json:"traces,omitempty"`
	Statistics     *statisticsPointer   `json:"statistics"`
}

type sessionEntry struct {
	Index      int      `json:"index"`
	NewClasses []string `json:"new_classes"`
	// Count is the number of rows of samples.content in the session.
	Count int `json:"count"`
	// FromStatistics and Refreshed are as in Session.
	FromStatistics bool `json:"from_statistics,omitempty"`
	Refreshed      bool `json:"refreshed,omitempty"`
}

// statisticsPointer identifies a side file by its content.
type statisticsPointer struct {
	// SHA256 is the hash of the whole file, in hexadecimal.
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

func (d document) check() error {
	if d.Method == "" || d.Dim < 0 {
		return fmt.Errorf("the method is missing or the dimension is %d", d.Dim)
	}
	if s := d.Statistics; s != nil && (!isHex(s.SHA256, 64) || s.Bytes < 0) {
		return fmt.Errorf("the reference to the statistics is damaged")
	}
	if len(set(d.Classes)) != len(d.Classes) {
		return fmt.Errorf("a class is listed twice")
	}
	last := -1
	for _, s := range d.Sessions {
		if s.Index <= last || s.Count < 0 {
			return fmt.Errorf("session %d is out of order or has %d samples", s.Index, s.Count)
		}
		last = s.Index
	}
	return d.Provenance.Validate()
}

func isHex(s string, n int) bool {
	return len(s) == n && len(bytes.Trim([]byte(s), "0123456789abcdef")) == 0
}

// decodePointer decodes only the reference to the side file.
func decodePointer(text string) (*statisticsPointer, error) {
	var d struct {
		Statistics *statisticsPointer `json:"statistics"`
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, err
	}
	if d.Statistics != nil && !isHex(d.Statistics.SHA256, 64) {
		return nil, fmt.Errorf("the reference to the statistics is damaged")
	}
	return d.Statistics, nil
}
