package drawfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// small returns a file with a row for each of a few hundred draws.
func small(t *testing.T) (*script, []byte) {
	var b bytes.Buffer
	s := newScript(1, 20, 50, 1, 4, 0.3)
	if err := s.write(t, &b, 150).Close(); err != nil {
		t.Fatal(err)
	}
	return s, b.Bytes()
}

// readAll reads a file that may be damaged.
func readAll(t *testing.T, s *script, path string, data []byte) (rows int, err error) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(path, index(s.schema))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for row, err := range r.All() {
		if err != nil {
			return rows, err
		}
		if rows >= len(s.rows) || !equalRows(row, &s.rows[rows]) {
			return rows, errors.New("other draws")
		}
		rows++
	}
	return rows, nil
}

func TestDamagedFile(t *testing.T) {
	s, data := small(t)
	path := filepath.Join(t.TempDir(), "draws.parquet")
	if rows, err := readAll(t, s, path, data); err != nil || rows != len(s.rows) {
		t.Fatalf("the whole file: %d rows, error %v", rows, err)
	}
	for n := 0; n < len(data); n += 5 {
		if _, err := readAll(t, s, path, data[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d of %d bytes: error %v", n, len(data), err)
		}
	}
	// A flipped bit in a page is found by its CRC. The rest of the file has
	// none; there it must be found or do no harm.
	silent := 0
	for n := range data {
		bad := slices.Clone(data)
		bad[n] ^= 1 << (n % 8)
		rows, err := readAll(t, s, path, bad)
		if err == nil && rows == len(s.rows) {
			silent++
		} else if !errors.Is(err, ErrDamaged) {
			t.Errorf("bit %d of byte %d: %d of %d rows, error %v", n%8, n, rows, len(s.rows), err)
		}
	}
	if silent > len(data)/4 {
		t.Errorf("%d of %d flips were not noticed", silent, len(data))
	}
}

func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenReader(filepath.Join(dir, "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
	s, _ := small(t)
	for _, data := range []string{"", "PAR1", "PAR1PAR1", "chain,draw\n0,0\n", string(make([]byte, 1000))} {
		if _, err := readAll(t, s, filepath.Join(dir, "other"), []byte(data)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%.10q: error %v", data, err)
		}
	}
}

// Ending early closes what is open, and a panic in the loop is the caller's own.
func TestLoopBody(t *testing.T) {
	s, data := small(t)
	path := filepath.Join(t.TempDir(), "draws.parquet")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(path, index(s.schema))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range r.All() {
		break
	}
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("the panic became %v", p)
		}
	}()
	for range r.All() {
		panic("mine")
	}
}
