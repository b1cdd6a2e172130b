package dataset

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// A number is one of a file of boxes, in which some tools write numbers as text. Anything else is none,
// rather than the end of its record.
type number struct {
	value float64
	given bool
}

func (n *number) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(string(text), `"`)), 64)
	*n = number{}
	if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		*n = number{v, true}
	}
	return nil
}

// A rectangle is a box as the file has it: x, y, width and height.
type rectangle struct {
	of    []number
	odd   bool // it is no list
	whole bool // of the photo
}

func (r *rectangle) UnmarshalJSON(text []byte) error {
	*r = rectangle{}
	r.odd = json.Unmarshal(text, &r.of) != nil
	return nil
}

func (r rectangle) hasArea() bool {
	return len(r.of) == 4 && r.of[2].value > 0 && r.of[3].value > 0 && r.of[0].given && r.of[1].given
}

// outlined returns the rectangle around the polygons of a segmentation of COCO, if it has any; drawn
// reports that it has something, which may be a mask.
func outlined(segmentation json.RawMessage) (around rectangle, drawn bool) {
	var polygons [][]float64
	if json.Unmarshal(segmentation, &polygons) != nil {
		return rectangle{}, len(segmentation) > 0
	}
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, polygon := range polygons {
		for i, v := range polygon[:len(polygon)&^1] {
			low[i&1], high[i&1] = min(low[i&1], v), max(high[i&1], v)
			drawn = true
		}
	}
	if !drawn {
		return rectangle{}, false
	}
	for _, v := range []float64{low[0], low[1], high[0] - low[0], high[1] - low[1]} {
		around.of = append(around.of, number{v, true})
	}
	return around, true
}
