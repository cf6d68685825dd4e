package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// sealEnd is the text that follows the checksum at the end of a sealed document.
const sealEnd = "\"\n}\n"

// Seal fills in the checksum of an indented JSON document whose last field is an empty string. The
// checksum is the SHA-256 of the document with the empty string, in hexadecimal.
func Seal(document []byte) []byte {
	at := len(document) - len(sealEnd)
	return slices.Concat(document[:at], []byte(hexSHA256(document)), document[at:])
}

// maxObjects is the largest number of JSON objects in a document of a run. An empty object takes
// two bytes in the file and hundreds in memory.
const maxObjects = 1 << 17

// UnmarshalDocument decodes a JSON document of a run, which may come from someone else. The error wraps
// [ErrDamaged] if the document has too many objects.
func UnmarshalDocument(document []byte, to any) error {
	if n := bytes.Count(document, []byte("{")); n > maxObjects {
		return fmt.Errorf("%w: it has %d objects", ErrDamaged, n)
	}
	return json.Unmarshal(document, to)
}

// CheckSeal returns nil if a document ends with the checksum that [Seal] gives it, and otherwise an
// error that wraps [ErrDamaged].
func CheckSeal(document []byte) error {
	to := max(0, len(document)-len(sealEnd))
	from := max(0, to-len(hexSHA256(nil)))
	open := slices.Concat(document[:from], document[to:])
	if string(document[to:]) != sealEnd || hexSHA256(open) != string(document[from:to]) {
		return fmt.Errorf("%w: its checksum is another", ErrDamaged)
	}
	return nil
}
