package randomproblem

import (
	"os"
	"strconv"
	"testing"
)

func TestDump(t *testing.T) {
	seed, _ := strconv.ParseUint(os.Getenv("FROM"), 10, 64)
	dir := "/tmp/rpdump"
	os.RemoveAll(dir)
	os.MkdirAll(dir, 0o777)
	exe, _ := os.Executable()
	if _, err := New(seed).Write(dir, exe); err != nil {
		t.Fatal(err)
	}
}
