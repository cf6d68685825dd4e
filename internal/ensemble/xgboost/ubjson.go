package xgboost

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// maxDepth is the greatest nesting depth of values.
const maxDepth = 64

// toJSON converts a UBJSON value to JSON; see ubjson.org. Numbers that are not finite become
// strings, as in [quoteNonFinite].
func toJSON(data []byte) ([]byte, error) {
	u := ubjson{data: data}
	kind, err := u.byte()
	if err == nil {
		err = u.value(kind, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("no model of XGBoost: at byte %d of the UBJSON: %w", u.at, err)
	}
	return u.out, nil
}

type ubjson struct {
	data []byte
	at   int
	out  []byte
}

var errShort = errors.New("the file ends too early")

func (u *ubjson) nextBytes(n int) ([]byte, error) {
	if n < 0 || n > len(u.data)-u.at {
		return nil, errShort
	}
	u.at += n
	return u.data[u.at-n : u.at], nil
}

func (u *ubjson) byte() (byte, error) {
	b, err := u.nextBytes(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// sizes maps the marker of a type of numbers to its size in bytes.
var sizes = map[byte]int{'i': 1, 'U': 1, 'I': 2, 'l': 4, 'L': 8, 'd': 4, 'D': 8}

// readInt reads a whole number of the type with the given marker.
func (u *ubjson) readInt(kind byte) (int64, error) {
	size, ok := sizes[kind]
	if !ok || kind == 'd' || kind == 'D' {
		return 0, fmt.Errorf("%q is no whole number", kind)
	}
	b, err := u.nextBytes(size)
	if err != nil {
		return 0, err
	}
	switch kind {
	case 'i':
		return int64(int8(b[0])), nil
	case 'U':
		return int64(b[0]), nil
	case 'I':
		return int64(int16(binary.BigEndian.Uint16(b))), nil
	case 'l':
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

// readLength reads a length: a marker and a whole number, at most the number of remaining bytes.
func (u *ubjson) readLength() (int, error) {
	kind, err := u.byte()
	if err != nil {
		return 0, err
	}
	n, err := u.readInt(kind)
	if err == nil && (n < 0 || n > int64(len(u.data)-u.at)) {
		err = errShort
	}
	return int(n), err
}

// text reads a string whose marker has been read.
func (u *ubjson) text() error {
	n, err := u.readLength()
	if err != nil {
		return err
	}
	b, err := u.nextBytes(n)
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(string(b))
	u.out = append(u.out, quoted...)
	return err
}

func (u *ubjson) value(kind byte, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("values are nested deeper than %d", maxDepth)
	}
	switch kind {
	case '{':
		return u.object(depth)
	case '[':
		return u.array(depth)
	case 'S':
		return u.text()
	case 'C':
		c, err := u.byte()
		u.out = strconv.AppendUint(append(u.out, '"'), uint64(c), 10)
		u.out = append(u.out, '"')
		return err
	case 'Z':
		u.out = append(u.out, "null"...)
	case 'T':
		u.out = append(u.out, "true"...)
	case 'F':
		u.out = append(u.out, "false"...)
	case 'd':
		b, err := u.nextBytes(4)
		if err != nil {
			return err
		}
		u.float(float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 32)
	case 'D':
		b, err := u.nextBytes(8)
		if err != nil {
			return err
		}
		u.float(math.Float64frombits(binary.BigEndian.Uint64(b)), 64)
	default:
		v, err := u.readInt(kind)
		if err != nil {
			return err
		}
		u.out = strconv.AppendInt(u.out, v, 10)
	}
	return nil
}

func (u *ubjson) float(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		u.out = append(u.out, `"NaN"`...)
		return
	}
	u.out = strconv.AppendFloat(u.out, v, 'g', -1, bits)
}

func (u *ubjson) object(depth int) error {
	u.out = append(u.out, '{')
	for first := true; ; first = false {
		if u.at < len(u.data) && u.data[u.at] == '}' {
			u.at++
			u.out = append(u.out, '}')
			return nil
		}
		if !first {
			u.out = append(u.out, ',')
		}
		if err := u.text(); err != nil {
			return err
		}
		u.out = append(u.out, ':')
		kind, err := u.byte()
		if err == nil {
			err = u.value(kind, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// array reads an array: values up to a closing bracket, or a count and numbers of one type.
func (u *ubjson) array(depth int) error {
	u.out = append(u.out, '[')
	kind, err := u.byte()
	if err != nil {
		return err
	}
	count := -1
	var of byte
	if kind == '$' {
		if of, err = u.byte(); err != nil {
			return err
		}
		if sizes[of] == 0 {
			return fmt.Errorf("an array of %q is not one of numbers", of)
		}
		if kind, err = u.byte(); err != nil {
			return err
		}
		if kind != '#' {
			return errors.New("an array of one kind has no count")
		}
	}
	if kind == '#' {
		if count, err = u.readLength(); err != nil {
			return err
		}
	}
	for k := 0; ; k++ {
		if k == count || count < 0 && kind == ']' {
			u.out = append(u.out, ']')
			return nil
		}
		if k > 0 {
			u.out = append(u.out, ',')
		}
		each := of
		switch {
		case of != 0:
		case count >= 0:
			each, err = u.byte()
		default:
			each = kind
		}
		if err == nil {
			err = u.value(each, depth+1)
		}
		if err == nil && count < 0 {
			kind, err = u.byte()
		}
		if err != nil {
			return err
		}
	}
}
