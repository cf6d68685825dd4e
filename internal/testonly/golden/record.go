package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/inputerr"
)

// A Record is the cases of one test and what each says, word by word, so that no place,
// hint or figure changes unseen.
type Record struct {
	kept map[string]string
}

// Open reads the record of a test, testdata/NAME.json; with -update it is written
// when the test ends.
func Open(t *testing.T) *Record {
	t.Helper()
	name := filepath.Join("testdata", t.Name()+".json")
	r := &Record{make(map[string]string)}
	if *update {
		t.Cleanup(func() {
			var text bytes.Buffer
			e := json.NewEncoder(&text)
			e.SetEscapeHTML(false)
			e.SetIndent("", " ")
			if err := errors.Join(e.Encode(r.kept), os.MkdirAll("testdata", 0o777)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, text.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		})
		return r
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r.kept); err != nil {
		t.Fatal(err)
	}
	return r
}

// CheckText fails the test if a case does not say what it said.
func (r *Record) CheckText(t *testing.T, of, said string) {
	t.Helper()
	of = of[:min(len(of), 300)]
	before, known := r.kept[of]
	switch {
	case *update && known:
		t.Errorf("two cases are called %q", of)
	case *update:
		r.kept[of] = said
	case before != said:
		t.Errorf("%s\nsays\n%s\nand said\n%s", of, said, before)
	}
}

// CheckError is [Record.CheckText] for the error of an input, with the kind of the error behind
// it. The directory of its file is left out, and what protobuf's errors have in place of
// a space.
func (r *Record) CheckError(t *testing.T, of string, err error) {
	t.Helper()
	bad, is := errors.AsType[*inputerr.Error](err)
	if !is {
		t.Errorf("%s: the error is %v, not one of input", of, err)
		return
	}
	said := err.Error()
	if dir := filepath.Dir(bad.File); dir != "." {
		said = strings.NewReplacer(dir+string(filepath.Separator), "", dir, "its directory", "\u00a0", " ").Replace(said)
	}
	if bad.Err != nil {
		said += fmt.Sprintf(" (%T)", bad.Err)
	}
	r.CheckText(t, of, said)
}
