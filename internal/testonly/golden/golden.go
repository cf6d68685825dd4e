// Package golden compares what is made with what was made before, which stands in
// a file of testdata. A test that is run with -update writes its files anew: what
// has changed is then to be seen in the difference of the files.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write what is compared with files of testdata anew")

// Updates says whether the tests are run with -update.
func Updates() bool { return *update }

// Compare fails a test at the first line that a file has otherwise.
func Compare(t testing.TB, file string, got []byte) {
	t.Helper()
	want := Read(t, file, got)
	is, was := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for k := range max(len(is), len(was)) {
		if k >= len(is) || k >= len(was) || !bytes.Equal(is[k], was[k]) {
			t.Errorf("%s:%d: it is %.400q and was %.400q: if that is wanted, go test -run '^%s$' -update writes it anew",
				file, k+1, is[min(k, len(is)-1)], was[min(k, len(was)-1)], t.Name())
			return
		}
	}
}

// Read returns what a file has, which with -update is what is got.
func Read(t testing.TB, file string, got []byte) []byte {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return want
}
