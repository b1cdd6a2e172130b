package demo

// class is one kind of picture.
type class struct {
	name  string
	paint func(*scene)
}

// The classes of the demo: those of the base session, those learned later from
// a few shots, and those that nobody teaches.
func baseClasses() []class {
	return []class{
		{"brick-wall", brickWall}, {"checked-cloth", checkedCloth}, {"coins", coins},
		{"honeycomb", honeycomb}, {"house", house}, {"leaves", leaves},
		{"night-sky", nightSky}, {"polka-dots", polkaDots}, {"roof-tiles", roofTiles},
		{"sea", sea}, {"wood-grain", woodGrain}, {"zebra-stripes", zebraStripes},
	}
}

func newClasses() []class {
	return []class{{"fire", fire}, {"fish", fish}, {"flowers", flowers}, {"mushrooms", mushrooms}}
}

func unknownClasses() []class {
	return []class{{"cactus", cactus}, {"hot-air-balloon", balloon}}
}

func knownClasses() []class { return append(baseClasses(), newClasses()...) }

func names(classes []class) []string {
	out := make([]string, len(classes))
	for i, c := range classes {
		out[i] = c.name
	}
	return out
}

// picture paints the picture with this name and returns its JPEG file.
func (c class) picture(seed uint64, name string) ([]byte, error) {
	s := newScene(seed, name)
	c.paint(s)
	return s.photograph()
}
