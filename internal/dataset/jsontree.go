package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"kir/internal/browsersched"
)

// Limits on a JSON file.
const (
	largestJSON = 32 << 20
	mostValues  = 1 << 20
	deepest     = 64 // levels of lists and objects
)

// A jsonValue is a JSON value with its position.
type jsonValue struct {
	kind   byte // '{', '[', 's' for a string, 'n' for a number, 0 for all others
	text   string
	keys   []string // of an object
	items  []jsonValue
	offset int
}

// get returns the value of an object's first key of that name, or nil.
func (v *jsonValue) get(key string) *jsonValue {
	for i, k := range v.keys {
		if k == key {
			return &v.items[i]
		}
	}
	return nil
}

// values returns the values of a list, or the value itself.
func (v *jsonValue) values() []jsonValue {
	switch {
	case v == nil:
		return nil
	case v.kind == '[':
		return v.items
	}
	return []jsonValue{*v}
}

// A jsonReader reads a JSON text into a tree.
type jsonReader struct {
	ctx    context.Context // ends the reading
	file   string
	text   []byte
	d      *json.Decoder
	values int
}

// readJSON reads a text. A fault in it is an *Error.
func readJSON(ctx context.Context, r io.Reader, file string) (*jsonReader, *jsonValue, error) {
	text, err := io.ReadAll(io.LimitReader(r, largestJSON+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(text) > largestJSON {
		return nil, nil, &Error{File: file, Message: fmt.Sprintf("the file has more than %d MiB", largestJSON>>20), Hint: "split it"}
	}
	j := &jsonReader{ctx: ctx, file: file, text: text}
	if at := invalidByte(text, false); at >= 0 {
		return nil, nil, j.errorAt(at, fmt.Sprintf("byte 0x%02x is not valid in UTF-8", text[at]), "save the file as UTF-8")
	}
	j.d = json.NewDecoder(bytes.NewReader(text))
	j.d.UseNumber()
	v, err := j.value(0)
	if err == nil {
		if _, err = j.d.Token(); err == io.EOF {
			return j, v, nil
		} else if err == nil {
			err = errors.New("there is more after the end of the value")
		}
	}
	var bad *Error
	if errors.As(err, &bad) {
		return nil, nil, bad
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	at := int(j.d.InputOffset())
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = max(0, int(syntax.Offset)-1)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("it ends within a value")
		at = len(text)
	}
	e := j.errorAt(at, "this is not JSON that can be read: "+err.Error(), "")
	return nil, nil, e
}

// value reads the next value.
func (j *jsonReader) value(depth int) (*jsonValue, error) {
	if err := browsersched.Err(j.ctx); err != nil {
		return nil, err
	}
	start := int(j.d.InputOffset())
	for start < len(j.text) && bytes.IndexByte([]byte(" \t\r\n,:"), j.text[start]) >= 0 {
		start++
	}
	token, err := j.d.Token()
	if err != nil {
		return nil, err
	}
	if j.values++; j.values > mostValues {
		return nil, j.errorAt(start, fmt.Sprintf("the file has more than %d values", mostValues), "split it")
	}
	v := &jsonValue{offset: start}
	switch token := token.(type) {
	case string:
		v.kind, v.text = 's', token
	case json.Number:
		v.kind, v.text = 'n', token.String()
	case json.Delim:
		if depth == deepest {
			return nil, j.errorAt(start, fmt.Sprintf("lists and objects are more than %d deep", deepest), "")
		}
		v.kind = byte(token)
		for j.d.More() {
			if v.kind == '{' {
				key, err := j.d.Token()
				if err != nil {
					return nil, err
				}
				v.keys = append(v.keys, key.(string)) // the decoder ensures that it is a string
			}
			item, err := j.value(depth + 1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, *item)
		}
		if _, err := j.d.Token(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// place returns the position of a byte of the text.
func (j *jsonReader) place(offset int) place {
	before := j.text[:min(offset, len(j.text))]
	return place{
		line:   1 + bytes.Count(before, []byte{'\n'}),
		column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]),
	}
}

// places returns the positions of pairs of bytes, in one pass over the text.
func (j *jsonReader) places(offsets [][2]int) [][2]place {
	var order []int
	for _, pair := range offsets {
		order = append(order, pair[0], pair[1])
	}
	slices.Sort(order)
	at := make(map[int]place, len(order))
	p, done := place{line: 1, column: 1}, 0
	for _, offset := range slices.Compact(order) {
		between := j.text[done:offset]
		if n := bytes.Count(between, []byte{'\n'}); n > 0 {
			p.line += n
			p.column = 1
			between = between[bytes.LastIndexByte(between, '\n')+1:]
		}
		p.column += utf8.RuneCount(between)
		at[offset], done = p, offset
	}
	places := make([][2]place, len(offsets))
	for i, pair := range offsets {
		places[i] = [2]place{at[pair[0]], at[pair[1]]}
	}
	return places
}

func (j *jsonReader) errorAt(offset int, message, hint string) *Error {
	p := j.place(offset)
	return &Error{File: j.file, Line: p.line, Column: p.column, Message: message, Hint: hint}
}
