package xgboost

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// maxNestingDepth is the greatest depth to which values may be nested.
const maxNestingDepth = 64

// toJSON converts a value in UBJSON to JSON: see ubjson.org. Numbers that are not finite become
// strings, as in [quoteNonFinite].
func toJSON(data []byte) ([]byte, error) {
	u := ubjsonConverter{data: data}
	kind, err := u.readByte()
	if err == nil {
		err = u.convertValue(kind, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("no model of XGBoost: at byte %d of the UBJSON: %w", u.position, err)
	}
	return u.json, nil
}

// A ubjsonConverter converts UBJSON to JSON.
type ubjsonConverter struct {
	data     []byte // the UBJSON to be converted
	position int    // index in data of the next byte to read
	json     []byte // the JSON written so far
}

var errTruncated = errors.New("the file ends too early")

// nextBytes returns the next n bytes of data and moves the position behind them.
func (u *ubjsonConverter) nextBytes(n int) ([]byte, error) {
	if n < 0 || n > len(u.data)-u.position {
		return nil, errTruncated
	}
	u.position += n
	return u.data[u.position-n : u.position], nil
}

func (u *ubjsonConverter) readByte() (byte, error) {
	b, err := u.nextBytes(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// numberSizes maps the marker of a type of number to the size of the number in bytes.
var numberSizes = map[byte]int{'i': 1, 'U': 1, 'I': 2, 'l': 4, 'L': 8, 'd': 4, 'D': 8}

// readInt reads a whole number. The parameter kind is the marker of the type of the number.
func (u *ubjsonConverter) readInt(kind byte) (int64, error) {
	size, ok := numberSizes[kind]
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

// readLength reads a length, which consists of the marker of a number type and a whole number. It
// returns an error if the length exceeds the number of remaining bytes.
func (u *ubjsonConverter) readLength() (int, error) {
	kind, err := u.readByte()
	if err != nil {
		return 0, err
	}
	n, err := u.readInt(kind)
	if err == nil && (n < 0 || n > int64(len(u.data)-u.position)) {
		err = errTruncated
	}
	return int(n), err
}

// convertString converts a string to JSON. The marker of the string has already been read.
func (u *ubjsonConverter) convertString() error {
	n, err := u.readLength()
	if err != nil {
		return err
	}
	b, err := u.nextBytes(n)
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(string(b))
	u.json = append(u.json, quoted...)
	return err
}

// convertValue converts a value to JSON. The parameter kind is the marker of the value, which has
// already been read. The parameter depth is the number of arrays and objects that contain the
// value.
func (u *ubjsonConverter) convertValue(kind byte, depth int) error {
	if depth > maxNestingDepth {
		return fmt.Errorf("values are nested deeper than %d", maxNestingDepth)
	}
	switch kind {
	case '{':
		return u.convertObject(depth)
	case '[':
		return u.convertArray(depth)
	case 'S':
		return u.convertString()
	case 'C':
		c, err := u.readByte()
		u.json = strconv.AppendUint(append(u.json, '"'), uint64(c), 10)
		u.json = append(u.json, '"')
		return err
	case 'Z':
		u.json = append(u.json, "null"...)
	case 'T':
		u.json = append(u.json, "true"...)
	case 'F':
		u.json = append(u.json, "false"...)
	case 'd':
		b, err := u.nextBytes(4)
		if err != nil {
			return err
		}
		u.appendFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 32)
	case 'D':
		b, err := u.nextBytes(8)
		if err != nil {
			return err
		}
		u.appendFloat(math.Float64frombits(binary.BigEndian.Uint64(b)), 64)
	default:
		v, err := u.readInt(kind)
		if err != nil {
			return err
		}
		u.json = strconv.AppendInt(u.json, v, 10)
	}
	return nil
}

// appendFloat appends a floating-point number to the JSON.
func (u *ubjsonConverter) appendFloat(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		u.json = append(u.json, `"NaN"`...)
		return
	}
	u.json = strconv.AppendFloat(u.json, v, 'g', -1, bits)
}

// convertObject converts an object to JSON. The opening brace has already been read.
func (u *ubjsonConverter) convertObject(depth int) error {
	u.json = append(u.json, '{')
	for first := true; ; first = false {
		if u.position < len(u.data) && u.data[u.position] == '}' {
			u.position++
			u.json = append(u.json, '}')
			return nil
		}
		if !first {
			u.json = append(u.json, ',')
		}
		if err := u.convertString(); err != nil {
			return err
		}
		u.json = append(u.json, ':')
		kind, err := u.readByte()
		if err == nil {
			err = u.convertValue(kind, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// convertArray converts an array to JSON. The opening bracket has already been read. The values of
// an array end with a closing bracket, or their count is given first. With a count, the type of all
// values may also be given first.
func (u *ubjsonConverter) convertArray(depth int) error {
	u.json = append(u.json, '[')
	kind, err := u.readByte()
	if err != nil {
		return err
	}
	count := -1
	var of byte
	if kind == '$' {
		if of, err = u.readByte(); err != nil {
			return err
		}
		if numberSizes[of] == 0 {
			return fmt.Errorf("an array of %q is not one of numbers", of)
		}
		if kind, err = u.readByte(); err != nil {
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
			u.json = append(u.json, ']')
			return nil
		}
		if k > 0 {
			u.json = append(u.json, ',')
		}
		each := of
		switch {
		case of != 0:
		case count >= 0:
			each, err = u.readByte()
		default:
			each = kind
		}
		if err == nil {
			err = u.convertValue(each, depth+1)
		}
		if err == nil && count < 0 {
			kind, err = u.readByte()
		}
		if err != nil {
			return err
		}
	}
}
