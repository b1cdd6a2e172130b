package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-90d10d51/pipeline/model/internal/container"
)

const again = "train the model again"

// The files of a model and their versions. From version 4 of MODEL on, heads have one novelty and
// do not say which; that of program 0.1 was another.
var (
	modelFormat = container.Format{Name: "pipeline-model", Version: 4, Oldest: 3, Foreign: ErrNotModel,
		Again: again}
	statisticsFormat = container.Format{Name: "pipeline-statistics", Version: 1,
		Foreign: errors.New("not the statistics of a model")}
)

// checkProgram returns an error about a MODEL of program 0.1.
func checkProgram(version string) error {
	if strings.HasPrefix(version, "0.1.") {
		return fmt.Errorf("%w: pipeline %s made it: %s", ErrOlderVersion, version, again)
	}
	return nil
}
