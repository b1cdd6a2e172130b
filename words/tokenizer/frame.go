package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A frame is what is added around the tokens of a text, and how long it is at most.
type frame struct {
	before, after []int32
	length        int // 0: any
	fixed         bool
	pad           *int32
}

// MaxLength bounds the number of tokens of a text.
const MaxLength = 1 << 12

// truncation and padding are those of a file.
type truncation struct {
	Direction string `json:"direction"`
	MaxLength int64  `json:"max_length"`
}

type padding struct {
	Strategy  json.RawMessage `json:"strategy"`
	Direction string          `json:"direction"`
	Multiple  *int64          `json:"pad_to_multiple_of"`
	ID        int64           `json:"pad_id"`
}

// around returns the ids of a text with those before and after, at most length.
func (f frame) around(ids []int32, length int) []int32 {
	if length > 0 {
		ids = ids[:min(len(ids), max(0, length-len(f.before)-len(f.after)))]
	}
	all := slices.Concat(f.before, ids, f.after)
	if length > 0 {
		all = all[:min(len(all), length)]
	}
	return all
}

func (f *frame) readLengths(t *truncation, p *padding) error {
	if t != nil {
		if t.Direction != "" && t.Direction != "Right" || t.MaxLength < 1 || t.MaxLength > MaxLength {
			return fmt.Errorf("truncation to %d tokens, direction %q, is not supported", t.MaxLength, t.Direction)
		}
		f.length = int(t.MaxLength)
	}
	if p == nil {
		return nil
	}
	if p.Direction != "" && p.Direction != "Right" || p.Multiple != nil && *p.Multiple > 1 {
		return errors.New("padding on the left, or to a multiple, is not supported")
	}
	if err := checkID(p.ID, "of padding"); err != nil {
		return err
	}
	id := int32(p.ID)
	f.pad = &id
	var strategy struct{ Fixed *int64 }
	if json.Unmarshal(p.Strategy, &strategy) != nil || strategy.Fixed == nil {
		return nil // "BatchLongest"
	}
	if *strategy.Fixed < 1 || *strategy.Fixed > MaxLength {
		return fmt.Errorf("padding to %d tokens is not supported", *strategy.Fixed)
	}
	if f.fixed = true; f.length == 0 {
		f.length = int(*strategy.Fixed)
	}
	return nil
}

// readPost reads which tokens are added to a text.
func (f *frame) readPost(part json.RawMessage, depth int) error {
	if absent(part) {
		return nil
	}
	name, err := kind(part)
	if err != nil {
		return err
	}
	switch name {
	case "ByteLevel": // changes only where tokens are in the text
		return nil
	case "RobertaProcessing", "BertProcessing":
		return f.readEnds(part)
	case "TemplateProcessing":
		return f.readTemplate(part)
	case "Sequence":
		return f.readPosts(part, depth)
	}
	return unsupported(name)
}

func (f *frame) readPosts(part json.RawMessage, depth int) error {
	var list struct {
		Processors []json.RawMessage `json:"processors"`
	}
	if depth >= maxDepth {
		return errDepth
	}
	if err := json.Unmarshal(part, &list); err != nil {
		return err
	}
	for _, one := range list.Processors {
		if err := f.readPost(one, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// wrap adds tokens around those that are there.
func (f *frame) wrap(before, after []int32) error {
	f.before, f.after = slices.Concat(before, f.before), slices.Concat(f.after, after)
	if len(f.before)+len(f.after) > MaxLength {
		return errors.New("too many tokens are added to a text")
	}
	return nil
}

// A named token is ["token", id] in a file.
type named struct {
	token string
	id    int64
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *named) UnmarshalJSON(data []byte) error {
	two := []any{&n.token, &n.id}
	if err := json.Unmarshal(data, &two); err != nil {
		return err
	}
	if len(two) != 2 {
		return fmt.Errorf("%s is not a token with its number", data)
	}
	return checkID(n.id, n.token)
}

func (f *frame) readEnds(part json.RawMessage) error {
	var ends struct{ Sep, Cls *named }
	if err := json.Unmarshal(part, &ends); err != nil {
		return err
	}
	if ends.Sep == nil || ends.Cls == nil {
		return errors.New("sep or cls is missing")
	}
	return f.wrap([]int32{int32(ends.Cls.id)}, []int32{int32(ends.Sep.id)})
}

func (f *frame) readTemplate(part json.RawMessage) error {
	var t struct {
		Single []struct {
			Sequence     *struct{ ID string }
			SpecialToken *struct{ ID string }
		} `json:"single"`
		Special map[string]struct{ IDs []int64 } `json:"special_tokens"`
	}
	if err := json.Unmarshal(part, &t); err != nil {
		return err
	}
	var sides [2][]int32 // before and after the text
	side := 0
	for _, one := range t.Single {
		switch {
		case one.Sequence != nil && side == 0:
			side = 1
		case one.SpecialToken != nil:
			special, ok := t.Special[one.SpecialToken.ID]
			if !ok {
				return fmt.Errorf("the token %q of the template has no number", one.SpecialToken.ID)
			}
			for _, id := range special.IDs {
				if err := checkID(id, one.SpecialToken.ID); err != nil {
					return err
				}
				sides[side] = append(sides[side], int32(id))
			}
		default:
			return errors.New("the template for one text does not have it once")
		}
	}
	if side == 0 {
		return errors.New("the template for one text does not have it once")
	}
	return f.wrap(sides[0], sides[1])
}
