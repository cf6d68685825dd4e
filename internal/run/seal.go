package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// textAfterChecksum is the text after the checksum in a document that [Seal] returns.
const textAfterChecksum = "\"\n}\n"

// Seal returns an indented JSON document with its checksum. The last field of the document must be
// an empty string; the checksum becomes its value. The checksum is the SHA-256, in hexadecimal, of
// the document with the empty string.
func Seal(document []byte) []byte {
	at := len(document) - len(textAfterChecksum)
	return slices.Concat(document[:at], []byte(hexSHA256(document)), document[at:])
}

// maxJSONObjects is the largest number of JSON objects in a document of a run. An empty object
// takes two bytes in the file and hundreds in memory.
const maxJSONObjects = 1 << 17

// UnmarshalDocument decodes a JSON document of a run. The document may come from someone else and
// be malformed. If it has too many objects, the error wraps [ErrDamaged].
func UnmarshalDocument(document []byte, to any) error {
	if n := bytes.Count(document, []byte("{")); n > maxJSONObjects {
		return fmt.Errorf("%w: it has %d objects", ErrDamaged, n)
	}
	return json.Unmarshal(document, to)
}

// CheckSeal checks that the checksum at the end of a document is the one that [Seal] gives it. If
// not, the error wraps [ErrDamaged].
func CheckSeal(document []byte) error {
	to := max(0, len(document)-len(textAfterChecksum))
	from := max(0, to-len(hexSHA256(nil)))
	open := slices.Concat(document[:from], document[to:])
	if string(document[to:]) != textAfterChecksum || hexSHA256(open) != string(document[from:to]) {
		return fmt.Errorf("%w: its checksum is another", ErrDamaged)
	}
	return nil
}
