package demo

// class is one kind of picture: things of one shape in front of a backdrop.
// With a step the thing is repeated across the whole picture; otherwise a few
// of them are placed in a band of its height.
type class struct {
	name  string
	sky   colour // of the whole picture
	land  colour // below a hilly horizon, if not zero
	decor []part // drawn once, before the land, in units of half the picture's longer side
	thing []part

	step  pair    // between columns and rows, in units of the thing
	shift float64 // of every other row, as a share of the step

	number [2]int // of things, minimum and maximum
	band   pair   // of the picture's height, 0 at the top

	size   pair    // of the thing's unit, as a share of the picture's shorter side
	turn   float64 // at most, in radians
	uneven float64 // how much the brightness differs from thing to thing
}

// pair is a range, or a number for each direction.
type pair [2]float64

// The classes of the base session, in alphabetical order like the others.
var baseClasses = []class{
	{
		name: "brick-wall", step: pair{2.15, 1.05}, shift: 0.5, size: pair{0.07, 0.12}, turn: 0.2, uneven: 0.15,
		sky:   colour{0.09, 0.1, 0.8, 0},
		thing: []part{{path: "B -1 -0.45 1 0.45", colour: colour{0.04, 0.6, 0.7, 0.04}}},
	},
	{
		name: "checked-cloth", step: pair{2, 2}, size: pair{0.05, 0.08}, turn: 0.8,
		sky: colour{0.1, 0.05, 0.95, 0},
		thing: []part{
			{path: "B 0 0 1 1", colour: colour{0, 0.8, 0.7, 0.5}},
			{path: "B -1 0 0 1 B 0 -1 1 0", colour: colour{0, 0.4, 0.9, 0.5}},
		},
	},
	{
		name: "coins", number: [2]int{4, 9}, band: pair{0.2, 0.8}, size: pair{0.12, 0.17}, turn: 3, uneven: 0.15,
		sky: colour{0.4, 0.5, 0.4, 0.2},
		thing: []part{
			{path: "O 0 0 1 1", colour: colour{0.11, 0.55, 0.85, 0.04}},
			{path: "O 0 0 0.82 0.82", colour: colour{0.12, 0.6, 0.7, 0.03}, line: 0.08},
			{path: "M 0 -0.6 L 0.15 -0.1 L -0.15 -0.1 Z", colour: colour{0.12, 0.55, 0.95, 0.03}, copies: 5},
		},
	},
	{
		name: "fir-trees", number: [2]int{3, 7}, band: pair{0.65, 0.85}, size: pair{0.2, 0.28}, turn: 0.04, uneven: 0.2,
		sky: colour{0.6, 0.2, 0.85, 0.05}, land: colour{0.58, 0.06, 0.97, 0},
		thing: []part{
			{path: "B -0.1 -0.1 0.1 0.3", colour: colour{0.06, 0.6, 0.35, 0}},
			{path: "M -0.75 0 L 0 -1 L 0.75 0 Z", colour: colour{0.39, 0.65, 0.4, 0}},
			{path: "M -0.6 -0.6 L 0 -1.5 L 0.6 -0.6 Z", colour: colour{0.39, 0.6, 0.45, 0}},
			{path: "M -0.42 -1.15 L 0 -2 L 0.42 -1.15 Z", colour: colour{0.39, 0.55, 0.5, 0}},
		},
	},
	{
		name: "honeycomb", step: pair{1.8, 1.56}, shift: 0.5, size: pair{0.07, 0.11}, turn: 0.5, uneven: 0.12,
		sky: colour{0.12, 0.6, 0.95, 0},
		thing: []part{
			{path: "M 0 -0.9 L 0.78 -0.45 L 0.78 0.45 L 0 0.9 L -0.78 0.45 L -0.78 -0.45 Z",
				colour: colour{0.1, 0.9, 0.75, 0.02}},
			{path: "O 0.1 0.15 0.5 0.5", colour: colour{0.1, 0.85, 0.9, 0.02}},
		},
	},
	{
		name: "house", number: [2]int{1, 1}, band: pair{0.75, 0.85}, size: pair{0.28, 0.38}, turn: 0.03,
		sky: colour{0.56, 0.35, 0.95, 0.03}, land: colour{0.27, 0.6, 0.7, 0.04},
		decor: []part{{path: "M -3 0.2 Q -1.2 -0.3 -0.3 0.1 Q 0.8 -0.4 3 0.2 L 3 3 L -3 3 Z",
			colour: colour{0.36, 0.35, 0.65, 0}}},
		thing: []part{
			{path: "B 0.4 -1.7 0.62 -1", colour: colour{0.03, 0.6, 0.5, 0}},
			{path: "B -0.9 -1 0.9 0", colour: colour{0.12, 0.25, 0.95, 0.1}},
			{path: "M -1.1 -0.95 L 0 -1.8 L 1.1 -0.95 Z", colour: colour{0.02, 0.7, 0.65, 0.03}},
			{path: "B -0.15 -0.6 0.2 0", colour: colour{0.07, 0.6, 0.45, 0}},
			{path: "B -0.7 -0.75 -0.35 -0.4 B 0.4 -0.75 0.75 -0.4", colour: colour{0.57, 0.4, 0.9, 0}},
			{path: "M -0.525 -0.75 L -0.525 -0.4 M 0.575 -0.75 L 0.575 -0.4", colour: colour{0, 0, 1, 0}, line: 0.05},
		},
	},
	{
		name: "leaves", number: [2]int{7, 14}, band: pair{0.1, 0.9}, size: pair{0.15, 0.21}, turn: 3, uneven: 0.2,
		sky: colour{0.09, 0.4, 0.35, 0.04},
		thing: []part{
			{path: "M -1 0 C -0.5 -0.8 0.5 -0.6 1 0 C 0.5 0.6 -0.5 0.8 -1 0 Z", colour: colour{0.07, 0.8, 0.85, 0.05}},
			{path: "M -1.3 0 L 0.8 0 M -0.4 0 L 0 -0.3 M -0.4 0 L 0 0.3 M 0 0 L 0.4 -0.25 M 0 0 L 0.4 0.25",
				colour: colour{0.06, 0.7, 0.5, 0}, line: 0.05},
		},
	},
	{
		name: "night-sky", number: [2]int{20, 40}, band: pair{0, 1}, size: pair{0.02, 0.035}, turn: 0.5, uneven: 0.2,
		sky: colour{0.64, 0.7, 0.3, 0.05},
		decor: []part{{path: "M 0.35 -0.7 C 0 -0.6 0 0 0.35 0.05 C 0 0.2 -0.4 -0.1 -0.3 -0.4 C -0.25 -0.65 0.05 -0.8 " +
			"0.35 -0.7 Z", colour: colour{0.14, 0.2, 1, 0}}},
		thing: []part{{path: "M 0 -1 L 0.25 0 L 0 1 L -0.25 0 Z", colour: colour{0.15, 0.15, 1, 0}, copies: 4}},
	},
	{
		name: "polka-dots", step: pair{3, 1.6}, shift: 0.5, size: pair{0.06, 0.09}, turn: 0.8,
		sky:   colour{0, 0.7, 0.8, 0.5},
		thing: []part{{path: "O 0 0 0.8 0.8", colour: colour{0.1, 0.03, 1, 0}}},
	},
	{
		name: "roof-tiles", step: pair{2, 1.2}, shift: 0.5, size: pair{0.07, 0.11}, turn: 0.15, uneven: 0.12,
		sky: colour{0.03, 0.6, 0.4, 0},
		thing: []part{{path: "M -0.97 -1.2 L 0.97 -1.2 L 0.97 0 C 0.97 1.2 -0.97 1.2 -0.97 0 Z",
			colour: colour{0.04, 0.65, 0.75, 0.04}}},
	},
	{
		name: "sailing-boat", number: [2]int{1, 2}, band: pair{0.6, 0.75}, size: pair{0.2, 0.3}, turn: 0.12,
		sky: colour{0.56, 0.3, 0.95, 0},
		decor: []part{
			{path: "B -3 0.1 3 3", colour: colour{0.58, 0.7, 0.65, 0.04}},
			{path: "M -1 0.4 Q -0.8 0.3 -0.6 0.4 M 0.3 0.35 Q 0.5 0.25 0.7 0.35 M -0.3 0.7 Q -0.1 0.6 0.1 0.7",
				colour: colour{0.55, 0.3, 0.9, 0}, line: 0.03},
		},
		thing: []part{
			{path: "M 0 0 L 0 -1.7", colour: colour{0.07, 0.5, 0.4, 0}, line: 0.07},
			{path: "M 0.08 -1.65 Q 0.7 -0.9 0.9 -0.2 L 0.08 -0.2 Z", colour: colour{0, 0.03, 1, 0}},
			{path: "M -0.08 -1.4 L -0.7 -0.2 L -0.08 -0.2 Z", colour: colour{0, 0.75, 0.9, 0.1}},
			{path: "M -1.1 0 L 1.1 0 Q 0.9 0.45 0.6 0.45 L -0.6 0.45 Q -0.9 0.4 -1.1 0 Z",
				colour: colour{0.05, 0.6, 0.5, 0}},
		},
	},
	{
		name: "zebra-stripes", step: pair{2, 0.9}, size: pair{0.12, 0.18}, turn: 1.5,
		sky:   colour{0.1, 0.05, 0.95, 0},
		thing: []part{{path: "M -1 0 C -0.4 -0.6 0.4 0.6 1 0", colour: colour{0.1, 0.2, 0.13, 0}, line: 0.42}},
	},
}

// The classes learned later, from a few shots.
var newClasses = []class{
	{
		name: "fire", number: [2]int{2, 4}, band: pair{0.75, 0.9}, size: pair{0.28, 0.4}, turn: 0.2,
		sky: colour{0.02, 0.5, 0.15, 0.1},
		thing: []part{
			{path: "M 0 0 C -1 0 -0.7 -0.8 -0.4 -1 C -0.4 -0.7 -0.2 -0.6 -0.2 -0.8 C -0.2 -1.2 0 -1.5 0.2 -1.8 C 0.1 " +
				"-1.3 0.8 -0.9 0.6 -0.4 C 0.5 -0.1 0.3 0 0 0 Z", colour: colour{0.02, 0.9, 0.95, 0}},
			{path: "M 0 0 C -0.7 0 -0.5 -0.6 -0.2 -0.8 C -0.1 -0.6 0 -0.8 0.1 -1.2 C 0.2 -0.8 0.5 -0.7 0.4 -0.3 C " +
				"0.4 -0.1 0.2 0 0 0 Z", colour: colour{0.09, 0.9, 1, 0}},
			{path: "M 0 0 C -0.4 0 -0.3 -0.4 0 -0.7 C 0.1 -0.5 0.3 -0.4 0.2 -0.2 C 0.2 -0.1 0.1 0 0 0 Z",
				colour: colour{0.15, 0.6, 1, 0}},
		},
	},
	{
		name: "fish", number: [2]int{1, 3}, band: pair{0.25, 0.7}, size: pair{0.2, 0.3}, turn: 0.3,
		sky: colour{0.52, 0.65, 0.75, 0.05},
		decor: []part{
			{path: "M -3 0.6 Q -1 0.4 0 0.6 Q 1 0.8 3 0.6 L 3 3 L -3 3 Z", colour: colour{0.12, 0.35, 0.8, 0}},
			{path: "M -0.8 1 C -0.6 0.7 -1 0.5 -0.8 0.1 M -0.65 1 C -0.5 0.8 -0.7 0.6 -0.6 0.4",
				colour: colour{0.36, 0.7, 0.5, 0}, line: 0.08},
		},
		thing: []part{
			{path: "M 0.6 0 L 1.3 -0.5 Q 1.1 0 1.3 0.5 Z M -0.2 -0.4 Q 0.2 -0.9 0.5 -0.3 Z M 0 0.4 Q 0.3 0.8 0.4 0.3 Z",
				colour: colour{0.04, 0.85, 0.85, 0.05}},
			{path: "M -1 0 C -0.6 -0.7 0.3 -0.7 0.8 0 C 0.3 0.7 -0.6 0.7 -1 0 Z", colour: colour{0.07, 0.8, 1, 0.05}},
			{path: "M -0.35 -0.45 Q -0.2 0 -0.35 0.45 M 0.15 -0.4 Q 0.3 0 0.15 0.4", colour: colour{0.1, 0.05, 1, 0},
				line: 0.13},
			{path: "O -0.65 -0.1 0.13 0.13", colour: colour{0, 0, 1, 0}},
			{path: "O -0.66 -0.1 0.06 0.06", colour: colour{0, 0, 0.05, 0}},
		},
	},
	{
		name: "flowers", number: [2]int{4, 8}, band: pair{0.15, 0.85}, size: pair{0.12, 0.18}, turn: 3,
		sky: colour{0.3, 0.6, 0.5, 0.05},
		thing: []part{
			{path: "M 0 0 C -0.6 -0.5 -0.4 -1 0 -1 C 0.4 -1 0.6 -0.5 0 0 Z", colour: colour{0.88, 0.5, 0.95, 0.1},
				copies: 6},
			{path: "O 0 0 0.3 0.3", colour: colour{0.13, 0.8, 0.95, 0}},
		},
	},
	{
		name: "mushrooms", number: [2]int{1, 3}, band: pair{0.75, 0.9}, size: pair{0.22, 0.32}, turn: 0.15,
		sky: colour{0.3, 0.5, 0.3, 0.05}, land: colour{0.1, 0.6, 0.35, 0},
		thing: []part{
			{path: "M -0.25 -0.9 L 0.25 -0.9 Q 0.2 -0.3 0.35 0 L -0.35 0 Q -0.2 -0.3 -0.25 -0.9 Z",
				colour: colour{0.12, 0.12, 0.95, 0}},
			{path: "M -1 -0.75 C -0.9 -2 0.9 -2 1 -0.75 Q 0 -0.95 -1 -0.75 Z", colour: colour{0, 0.85, 0.8, 0.03}},
			{path: "O -0.5 -1.1 0.14 0.12 O 0.05 -1.4 0.16 0.13 O 0.5 -1.05 0.13 0.11 O 0 -1.02 0.1 0.08",
				colour: colour{0.1, 0.04, 1, 0}},
		},
	},
}

// The classes that are never learned.
var unknownClasses = []class{
	{
		name: "bicycle", number: [2]int{1, 1}, band: pair{0.65, 0.75}, size: pair{0.26, 0.36}, turn: 0.05,
		sky: colour{0.75, 0.15, 0.9, 0.1}, land: colour{0.7, 0.05, 0.6, 0},
		thing: []part{
			{path: "O -0.8 0 0.55 0.55 O 0.8 0 0.55 0.55", colour: colour{0.7, 0.1, 0.2, 0}, line: 0.1},
			{path: "M -0.8 0 L -0.35 -0.7 L 0.55 -0.7 L -0.05 0 Z M -0.05 0 L -0.45 -0.9 M 0.8 0 L 0.5 -0.95",
				colour: colour{0, 0.85, 0.85, 0.5}, line: 0.1},
			{path: "M -0.65 -0.92 L -0.25 -0.92 M 0.3 -0.85 L 0.5 -0.97 L 0.7 -0.85", colour: colour{0.07, 0.6, 0.3, 0},
				line: 0.1},
		},
	},
	{
		name: "cactus", number: [2]int{1, 2}, band: pair{0.8, 0.92}, size: pair{0.3, 0.4}, turn: 0.05,
		sky: colour{0.1, 0.3, 0.98, 0.04}, land: colour{0.09, 0.5, 0.85, 0},
		thing: []part{{path: "M 0 0 L 0 -1.7 M 0 -0.6 Q -0.6 -0.6 -0.6 -1.2 M 0 -0.4 Q 0.6 -0.4 0.6 -1",
			colour: colour{0.36, 0.6, 0.55, 0}, line: 0.32}},
	},
	{
		name: "hot-air-balloon", number: [2]int{1, 2}, band: pair{0.3, 0.5}, size: pair{0.22, 0.3}, turn: 0.08,
		sky: colour{0.08, 0.3, 0.98, 0.05},
		thing: []part{
			{path: "M -0.15 1.4 L -0.5 0.6 M 0.15 1.4 L 0.5 0.6", colour: colour{0.07, 0.5, 0.4, 0}, line: 0.04},
			{path: "M -0.2 1.1 C -1.5 0 -1 -1 0 -1 C 1 -1 1.5 0 0.2 1.1 Z", colour: colour{0, 0.75, 0.9, 0.5}},
			{path: "M -0.1 1.1 C -0.6 0 -0.4 -1 0 -1 C 0.4 -1 0.6 0 0.1 1.1 Z", colour: colour{0.15, 0.6, 1, 0.5}},
			{path: "B -0.2 1.3 0.2 1.65", colour: colour{0.08, 0.6, 0.5, 0}},
		},
	},
}
