package runner

import (
	"testing"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/research/fscil"
)

// TestTrackOfKnownBackbones: results stand beside published rows only where the backbone has seen what theirs had.
func TestTrackOfKnownBackbones(t *testing.T) {
	for _, c := range []struct{ asked, dataset, trainedOn, want string }{
		{fscil.TrackAuto, "mini_imagenet", backbone.MiniImageNetBase, fscil.BaseOnly},
		{fscil.TrackAuto, "mini_imagenet", backbone.ImageNet1k, fscil.Foundation},
		{fscil.TrackAuto, "cub200", backbone.ImageNet1k, fscil.PretrainedDisjoint},
		{fscil.TrackAuto, "cub200", backbone.MiniImageNetBase, fscil.PretrainedDisjoint},
		{fscil.TrackAuto, "cub200", "", fscil.Foundation},
		{fscil.TrackAuto, "cifar100", backbone.ImageNet1k, fscil.Foundation},
		{fscil.Foundation, "mini_imagenet", backbone.MiniImageNetBase, fscil.Foundation},
	} {
		config := fscil.DefaultConfig()
		config.Protocol, config.Track, config.Dataset = fscil.Official, c.asked, c.dataset
		if got := (Runner{Sessions: config}).track(&Samples{trainedOn: c.trainedOn}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
