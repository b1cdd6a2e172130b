package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Names of columns whose cells are the name of a file alone, and of those with its folder, as Timelapse
// and camtrapR write them.
var (
	fileColumns   = []string{"file", "filename", "imagefile", "imagefilename", "imagename"}
	folderColumns = []string{"dir", "directory", "folder", "folderpath", "relativepath", "relpath"}
	// deploymentColumns are folders if the photos are there.
	deploymentColumns = []string{"deployment", "deploymentid", "locationid", "location", "station", "stationid"}
)

// combined returns records whose paths, or labels, are put together of several columns, or of a second
// table.
func (g guesser) combined(r records) (records, error) {
	if r.media {
		return g.withMedia(r)
	}
	if r.header == nil || slices.Contains(r.header, "path") || slices.Contains(r.header, "label") && r.literal {
		return r, nil
	}
	rows, err := r.head()
	if err != nil || len(rows) == 0 {
		return r, err
	}
	if g.opts.PathColumn == "" {
		r = g.inFolders(r, rows)
	}
	if g.opts.LabelColumn == "" && g.opts.ClassFrom == "" && !g.opts.LabelsOptional {
		r = g.oneHot(r, rows)
	}
	return r, nil
}

// usualColumns returns the columns with one of the plain names.
func usualColumns(names, usual []string) (columns []int) {
	for i, name := range names {
		if slices.Contains(usual, plainName(name)) {
			columns = append(columns, i)
		}
	}
	return columns
}

// inFolders joins a column of names of files with that of their folders, if there is one of each.
func (g guesser) inFolders(r records, rows [][]string) records {
	file, folder := usualColumns(r.header, fileColumns), usualColumns(r.header, folderColumns)
	if len(file) == 0 {
		file = usualColumns(r.header, []string{"name"}) // TRAPPER's
	}
	if len(folder) == 0 && len(file) == 1 {
		folder = slices.DeleteFunc(usualColumns(r.header, deploymentColumns), func(c int) bool {
			return !slices.ContainsFunc(rows, func(row []string) bool {
				return field(row, c) != "" && g.exists(field(row, c)+"/"+field(row, file[0]), "")
			})
		})
	}
	if len(file) != 1 || len(folder) != 1 || len(mostly(rows, isImageName)) == 0 {
		return r
	}
	f, d := file[0], folder[0]
	for _, row := range rows {
		if strings.ContainsAny(field(row, f), `/\`) || isImageName(field(row, d)) {
			return r
		}
	}
	out := r
	out.header, out.first = slices.Clone(r.header), nil
	out.header[f], out.header[d] = "path", ""
	out.joined = fmt.Sprintf("paths in columns %q and %q", r.header[d], r.header[f])
	out.each = func(columns []int, use func(int, []string) bool) error {
		if columns != nil {
			columns = append(slices.Clone(columns), d)
		}
		return r.each(columns, func(number int, cells []string) bool {
			if f < len(cells) && d < len(cells) && cells[f] != "" && cells[d] != "" {
				cells = slices.Clone(cells)
				cells[f] = strings.TrimRight(strings.ReplaceAll(cells[d], `\`, "/"), "/") + "/" + cells[f]
			}
			return use(number, cells)
		})
	}
	return out
}

// oneHot makes labels of columns that are named by classes and have 1 where a photo is of the class, 0
// where not.
func (g guesser) oneHot(r records, rows [][]string) records {
	path, err := g.pathColumn(r.header, rows)
	if err != nil || len(usualColumns(r.header, labelNames)) > 0 {
		return r
	}
	others := usualColumns(r.header, otherNames)
	var classes []int
	for i := range r.header {
		if i != path && !slices.Contains(others, i) {
			classes = append(classes, i)
		}
	}
	if len(classes) < 2 {
		return r
	}
	for _, row := range rows {
		for _, c := range classes {
			if _, ok := yesOrNo(field(row, c)); !ok {
				return r
			}
		}
	}
	out := r
	out.header, out.first = append(slices.Clone(r.header), "label", "labels", "by"), nil
	out.joined = strings.TrimPrefix(r.joined+", ", ", ") + fmt.Sprintf("labels in %d columns of 0 and 1", len(classes))
	out.each = func(_ []int, use func(int, []string) bool) error {
		var odd error
		err := r.each(nil, func(number int, cells []string) bool {
			var labels []string
			for _, c := range classes {
				yes, ok := yesOrNo(field(cells, c))
				if !ok {
					odd = fmt.Errorf("%s %d: column %q has %q, where the first rows have 0 or 1", r.unit, number,
						r.header[c], shown(field(cells, c)))
					return false
				}
				if yes {
					labels = append(labels, r.header[c])
				}
			}
			all := make([]string, len(r.header), len(r.header)+3)
			copy(all, cells)
			switch len(labels) {
			case 0:
				return use(number, append(all, "", "", ""))
			case 1:
				return use(number, append(all, labels[0], "", ""))
			}
			return use(number, append(all, "", JoinLabels(labels...), "person"))
		})
		return errors.Join(odd, err)
	}
	return out
}

func yesOrNo(cell string) (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "1", "1.0", "true":
		return true, true
	case "0", "0.0", "false", "":
		return false, true
	}
	return false, false
}
