package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// sealEnd is the end of a sealed document, after its checksum.
const sealEnd = "\"\n}\n"

// Seal fills in the checksum of an indented JSON document whose last field is an empty string. The
// checksum is the hexadecimal SHA-256 of the given document.
func Seal(document []byte) []byte {
	at := len(document) - len(sealEnd)
	return slices.Concat(document[:at], []byte(hash(document)), document[at:])
}

// mostObjects is the most objects in a document of a run. An empty object takes two bytes in the
// file and hundreds in memory.
const mostObjects = 1 << 17

// Unmarshal decodes a document of a run, which may come from someone else.
func Unmarshal(document []byte, to any) error {
	if n := bytes.Count(document, []byte("{")); n > mostObjects {
		return fmt.Errorf("%w: it has %d objects", ErrDamaged, n)
	}
	return json.Unmarshal(document, to)
}

// Sealed returns [ErrDamaged] if a document does not end with its checksum.
func Sealed(document []byte) error {
	to := max(0, len(document)-len(sealEnd))
	from := max(0, to-len(hash(nil)))
	open := slices.Concat(document[:from], document[to:])
	if string(document[to:]) != sealEnd || hash(open) != string(document[from:to]) {
		return fmt.Errorf("%w: its checksum is another", ErrDamaged)
	}
	return nil
}
