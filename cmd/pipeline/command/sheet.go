package command

import (
	"context"
	"fmt"

	"github.com/seed-90d10d51/pipeline/label/rank"
	"github.com/seed-90d10d51/pipeline/label/report"
)

// sheetTiles is the maximum number of pictures on a contact sheet, of about 5 kB each.
const sheetTiles = 500

// checkSheet returns an error if there can be no contact sheet in a file.
func (a *app) checkSheet(file string) error {
	if file != "" && a.config.Features != "" {
		return usagef("--sheet shows the photos, and features have none: give --images")
	}
	return writable(file)
}

// writeSheet writes a contact sheet of the first entries, unless file is empty.
func (a *app) writeSheet(ctx context.Context, file string, in input, title string, entries []rank.Entry) error {
	if file == "" {
		return nil
	}
	sheet := report.Sheet{Title: title, Subtitle: plural(len(entries), "image", "images")}
	if len(entries) > sheetTiles {
		sheet.Subtitle = fmt.Sprintf("The first %d of %d images", sheetTiles, len(entries))
		entries = entries[:sheetTiles]
	}
	for _, e := range entries {
		sheet.Tiles = append(sheet.Tiles, report.Tile{Path: e.Path, Box: e.Box, Lines: e.Lines()})
	}
	if err := sheet.Fill(ctx, in.root, a.config.Workers(), in.picture(ctx)); err != nil {
		return err
	}
	if err := a.writeFile(file, sheet.Write); err != nil {
		return err
	}
	a.say("contact sheet of %s: %s", plural(len(sheet.Tiles), "image", "images"), file)
	return nil
}
