package preprocess

import (
	"context"
	"fmt"
)

// mostMissing is the share of a picture, one in this many, that may be missing: then
// viewers show it, and what it shows can be seen.
const mostMissing = 4

// incomplete judges a picture of which only a part was read: it is remarked on if little
// is missing, and otherwise the error says how much.
func incomplete(ctx context.Context, read, whole int64) error {
	if read >= whole {
		return nil
	}
	if missing := whole - read; missing*mostMissing > whole {
		return fmt.Errorf("%w: %d %% of the picture is missing; copy the file again from its source", ErrTruncated,
			(100*missing+whole/2)/whole)
	}
	remark(ctx, RemarkEnd)
	return nil
}
