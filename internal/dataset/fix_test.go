package dataset

import "strings"

// readWithFixes reads a table that can be read again, so that hints have the settings that get past an error.
func readWithFixes(text, file string, o Options) (*Book, error) {
	read := func(o Options) (*Book, error) { return Read(strings.NewReader(text), file, o) }
	b, err := read(o)
	if err != nil {
		return nil, TryFixes(err, o, read)
	}
	return b, nil
}
