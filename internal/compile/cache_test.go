package compile

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file is taken when it is whole and has the key that is asked for, and never
// else; a directory that cannot be written is no error.
func TestCacheFiles(t *testing.T) {
	c := newCountCache(t.TempDir())
	dir := c.dir.Join(cacheDirName)
	path := func(key [sha256.Size]byte) string { return c.dir.Join(c.fileName(key)) }
	key, other := sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))
	data := bytes.Repeat([]byte("counts "), 100)
	if c.Load(key) != nil {
		t.Error("something is found where there is nothing")
	}
	c.Store(key, data)
	if !bytes.Equal(c.Load(key), data) || c.Load(other) != nil {
		t.Error("what was stored is not found, or is under another key")
	}
	whole, err := os.ReadFile(path(key))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for at := range whole { // each byte counts
		spoilt := bytes.Clone(whole)
		spoilt[at] ^= 1
		write(path(key), spoilt)
		if c.Load(key) != nil {
			t.Fatalf("a file with byte %d changed is taken", at)
		}
		write(path(key), whole[:at])
		if c.Load(key) != nil {
			t.Fatalf("the first %d bytes of a file are taken", at)
		}
	}
	write(path(other), whole)
	if c.Load(other) != nil {
		t.Error("a file under the name of another is taken")
	}
	c.Store(key, data)
	if !bytes.Equal(c.Load(key), data) {
		t.Error("a spoilt file is not made again")
	}

	// The oldest files go when all are too large, and nothing else does.
	bystander := filepath.Join(dir, "notes.txt")
	write(bystander, nil)
	var names []string
	for k := range 6 {
		names = append(names, path(sha256.Sum256([]byte{byte(k)})))
		write(names[k], nil)
		if err := os.Truncate(names[k], maxCacheFileBytes); err != nil {
			t.Fatal(err)
		}
		day := time.Now().AddDate(0, 0, k-10)
		if err := os.Chtimes(names[k], day, day); err != nil {
			t.Fatal(err)
		}
	}
	c.Store(other, data)
	for k, name := range append(names, bystander, path(key), path(other)) {
		if _, err := os.Stat(name); (err == nil) != (k >= 3) {
			t.Errorf("file %d of nine, the oldest first: %v", k, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.new")); err != nil || len(left) > 0 {
		t.Errorf("files on their way are left: %v, %v", left, err)
	}

	taken := sha256.Sum256([]byte("taken")) // what cannot be moved into its place is not left
	if err := os.Mkdir(path(taken), 0o777); err != nil {
		t.Fatal(err)
	}
	c.Store(taken, data)
	if left, err := filepath.Glob(filepath.Join(dir, "*.new")); err != nil || len(left) > 0 || c.Load(taken) != nil {
		t.Errorf("files on their way are left: %v, %v", left, err)
	}
	c.Store(key, make([]byte, maxCacheFileBytes)) // too large, with its key and sum
	if !bytes.Equal(c.Load(key), data) {
		t.Error("what is too large is stored")
	}

	write(filepath.Join(dir, "file"), nil)
	nowhere := newCountCache(filepath.Join(dir, "file", "below"))
	nowhere.Store(key, data)
	if nowhere.Load(key) != nil {
		t.Error("something is found in a directory that cannot be")
	}
}
