// Package wkb neither reads nor writes geometry.
package wkb

import (
	"encoding/binary"
	"errors"

	"github.com/twpayne/go-geom"
)

// NDR is little endian.
var NDR = binary.LittleEndian

var errWithout = errors.New("the page without a server neither reads nor writes geometry")

// Marshal fails.
func Marshal(geom.T, binary.ByteOrder) ([]byte, error) { return nil, errWithout }

// Unmarshal fails.
func Unmarshal([]byte) (geom.T, error) { return nil, errWithout }
