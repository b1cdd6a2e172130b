package demo

import (
	"encoding/csv"
	"fmt"
	"slices"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// Answers count what labels.csv says of the photos of a Set.
type Answers struct {
	Known, Right, Rejected   int // photos of Base and New, those labelled correctly, those rejected
	Unknown, UnknownRejected int // the other photos
}

// Check compares a labels.csv with what the photos show.
func (s Set) Check(labels string) (a Answers, err error) {
	f, _, err := regularfile.Open(labels)
	if err != nil {
		return a, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return a, fmt.Errorf("read %s: %w", labels, err)
	}
	label, rejected := slices.Index(rows[0], "label"), slices.Index(rows[0], "rejected")
	photos := map[string]Photo{}
	for _, photo := range s.Shown {
		photos[photo.Path] = photo
	}
	for _, row := range rows[1:] {
		photo, ok := photos[row[0]]
		if !ok {
			continue
		}
		all, turnedAway := &a.Unknown, &a.UnknownRejected
		if photo.Known {
			all, turnedAway = &a.Known, &a.Rejected
		}
		*all++
		if row[label] == photo.Class {
			a.Right++
		}
		if row[rejected] == "true" {
			*turnedAway++
		}
	}
	return a, nil
}
