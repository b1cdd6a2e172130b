package report

// A Selection takes the predictions of a run one by one and retains those that
// the page can show, plus the group sizes. Memory is bounded by the page's
// limit and the number of classes.
type Selection struct {
	page   Page
	groups map[string][]Prediction // by groupOf
	totals map[string]int
}

// NewSelection returns a Selection for a page with p's classes and limits.
func NewSelection(p Page) *Selection {
	p.Predictions = nil
	return &Selection{page: p, groups: map[string][]Prediction{}, totals: map[string]int{}}
}

// Add takes one prediction.
func (s *Selection) Add(q Prediction) {
	name := s.page.groupOf(q)
	s.totals[name]++
	s.groups[name] = append(s.groups[name], q)
	if all, most := s.groups[name], s.most(name); len(all) >= 2*most {
		sortGroup(name, all)
		clear(all[most:])
		s.groups[name] = all[:most]
	}
}

// most returns how many predictions of a group to retain. A class gets several
// times its fair share of the page, since others may not need theirs.
func (s *Selection) most(name string) int {
	limit := s.page.maxThumbnails()
	if name == rejected || name == uncertain {
		return limit
	}
	return min(limit, 50+4*limit/max(1, len(s.page.Classes)))
}

// Fill puts the selected predictions into a page with the same classes and
// limits. load adds the Thumbnail to a few of them at a time. One without a
// picture (NoPicture) gives way to the next in its group, and is shown only if
// there is no other.
func (s *Selection) Fill(p *Page, load func([]Prediction) error) error {
	all := s.page
	for _, group := range s.groups {
		all.Predictions = append(all.Predictions, group...)
	}
	groups := groupPredictions(all)
	shares := allot(groups, all.maxThumbnails())
	p.Predictions, p.totals = nil, s.totals
	for i, m := range groups {
		var shown, blank []Prediction
		for rest := m.predictions; len(shown) < shares[i] && len(rest) > 0; {
			next := rest[:min(shares[i]-len(shown), len(rest))]
			rest = rest[len(next):]
			if err := load(next); err != nil {
				return err
			}
			for _, q := range next {
				if q.NoPicture == "" {
					shown = append(shown, q)
				} else {
					blank = append(blank, q)
				}
			}
		}
		p.Predictions = append(p.Predictions, append(shown, blank[:min(shares[i]-len(shown), len(blank))]...)...)
	}
	return nil
}
