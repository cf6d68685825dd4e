package run

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// sealBinary returns the content of a binary file of a run: its first line, the header, then the
// compressed data, and then the SHA-256 of everything before.
func sealBinary(header string, data []byte) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header)
	small, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := small.Write(data); err != nil {
		return nil, err
	}
	if err := small.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b.Bytes())
	return append(b.Bytes(), sum[:]...), nil
}

// openSealed returns the compressed data of a file that [sealBinary] has made.
func openSealed(header string, file []byte) ([]byte, error) {
	end := len(file) - sha256.Size
	if end < len(header) || string(file[:len(header)]) != header || sha256.Sum256(file[:end]) != [sha256.Size]byte(file[end:]) {
		return nil, errors.New("its sum is another")
	}
	return file[len(header):end], nil
}

// inflate decompresses data that may come from someone else. It returns an error if the result would
// exceed the given number of bytes. It decompresses twice, so that an oversized result takes no memory.
func inflate(data []byte, most int64) ([]byte, error) {
	size, err := io.Copy(io.Discard, io.LimitReader(flate.NewReader(bytes.NewReader(data)), most+1))
	if err != nil {
		return nil, err
	}
	if size > most {
		return nil, fmt.Errorf("it unpacks to more than %d bytes", most)
	}
	unpacked := make([]byte, size)
	_, err = io.ReadFull(flate.NewReader(bytes.NewReader(data)), unpacked)
	return unpacked, err
}
