package rank

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/internal/atomicfile"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/label"
	"github.com/seed-90d10d51/pipeline/label/organise"
	"github.com/seed-90d10d51/pipeline/model"
)

// A Member is an image of a group.
type Member struct {
	Path string
	// Box is as in Entry.
	Box *dataset.Box
	// DuplicateOf is the path of the member that this one is a near-duplicate
	// of, "" for none.
	DuplicateOf string
}

// Group groups the novel images by class, as the model compares classes, and
// returns the groups, the largest first. Near-duplicates follow their first, whose
// group is theirs. It sets Group and DuplicateOf of the entries. Call it after
// Commit; see Groups for the cost.
func (r *Ranking) Group(ctx context.Context, p *model.Predictor) ([][]Member, error) {
	if len(r.novel) == 0 {
		return nil, nil
	}
	groups, copies, err := cluster(ctx, p, matrix(r.novel))
	if err != nil {
		return nil, err
	}
	var out [][]Member
	for _, rows := range groups {
		var members []Member
		for _, first := range rows {
			members = append(members, r.novel[first].member(""))
			for _, i := range copies[first] {
				members = append(members, r.novel[i].member(r.novel[first].path))
			}
		}
		if len(members) >= r.config.MinGroup {
			out = append(out, members)
		}
	}
	slices.SortStableFunc(out, func(a, b []Member) int { return cmp.Compare(len(b), len(a)) })
	r.mark(out, copies)
	return out, nil
}

// member is the image in a group.
func (e embedded) member(duplicateOf string) Member {
	return Member{Path: e.path, Box: e.box, DuplicateOf: duplicateOf}
}

// matrix returns the embeddings of images, at least one, as rows.
func matrix(images []embedded) blas32.General {
	d := len(images[0].vector)
	x := dense.New32(len(images), d)
	for i, v := range images {
		copy(dense.Row32(x, i), v.vector)
	}
	return x
}

// Cluster groups embeddings of unknown classes (n×d) as Ranking.Group does, and
// returns the rows of each group. Near-duplicates follow their first.
func Cluster(ctx context.Context, p *model.Predictor, x blas32.General) ([][]int, error) {
	groups, copies, err := cluster(ctx, p, x)
	for g, rows := range groups {
		var members []int
		for _, first := range rows {
			members = append(append(members, first), copies[first]...)
		}
		groups[g] = members
	}
	return groups, err
}

// cluster returns groups of the rows that are no near-duplicates of an earlier one,
// and the near-duplicates of each of these.
func cluster(ctx context.Context, p *model.Predictor, x blas32.General) (groups [][]int, copies map[int][]int,
	err error) {
	copies, firsts, err := Duplicates(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	space, white, err := p.Compare(ctx, dense.Gather32(x, firsts))
	if err == nil {
		groups, err = Groups(ctx, space, white)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("group images: %w", err)
	}
	for _, rows := range groups {
		for k, row := range rows {
			rows[k] = firsts[row]
		}
	}
	return groups, copies, nil
}

// photo returns the path of the photo.
func (m Member) photo() string { return dataset.Sample{Path: m.Path, Box: m.Box}.File() }

// mark sets Group and DuplicateOf of the entries.
func (r *Ranking) mark(groups [][]Member, copies map[int][]int) {
	group, duplicateOf := map[string]int{}, map[string]string{}
	for g, members := range groups {
		for _, m := range members {
			group[m.Path] = g + 1
		}
	}
	for first, rows := range copies {
		for _, i := range rows {
			duplicateOf[r.novel[i].path] = r.novel[first].path
		}
	}
	for i, e := range r.Entries {
		r.Entries[i].Group, r.Entries[i].DuplicateOf = group[e.Path], duplicateOf[e.Path]
	}
}

// LinkGroups creates dir with one folder per group (group-001, group-002, …) of
// links to its images below root, or of what crop returns of boxes, as JPEG: all or none. It
// returns of what kind the links are. What is in dir stays. Links of near-duplicates have one
// number, as in 0003-a.jpg and 0003.1-b.jpg.
func LinkGroups(groups [][]Member, root, dir string,
	crop func(file string, b *dataset.Box) ([]byte, error)) (organise.How, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	d, err := atomicfile.CreateDir(dir, nil)
	if err != nil {
		return "", err
	}
	defer d.Abort()
	how := organise.LinksIn(d.Path())
	for g, members := range groups {
		group := filepath.Join(d.Path(), fmt.Sprintf("group-%03d", g+1))
		if err := os.Mkdir(group, 0o755); err != nil {
			return "", err
		}
		// Numbered, so that equal names from different folders do not collide.
		number, copies := 0, 0
		for _, m := range members {
			photo := m.photo()
			name := filepath.Base(filepath.FromSlash(photo))
			if m.Box != nil {
				name = organise.CropName(name, m.Box.Number)
			}
			if m.DuplicateOf == "" {
				number, copies = number+1, 0
				name = fmt.Sprintf("%04d-%s", number, name)
			} else {
				copies++
				name = fmt.Sprintf("%04d.%d-%s", number, copies, name)
			}
			from, to := dataset.FullPath(root, photo), filepath.Join(group, name)
			_, err := organise.Spell(to, func(to string) error {
				if m.Box == nil {
					return how.Place(from, to, "")
				}
				picture, err := crop(from, m.Box)
				if err != nil {
					return &label.ItemError{Err: err}
				}
				return os.WriteFile(to, picture, 0o644)
			})
			if err != nil {
				return "", fmt.Errorf("%s: %w", m.Path, err)
			}
		}
	}
	return how, d.Commit()
}
