package research

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/cmd/pipeline/command/commandtest"
)

func TestMain(m *testing.M) { commandtest.Main(m) }
