package problem

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// cacheName is the directory beside a problem in which counts are kept. There it
// is seen, goes where the problem goes and is deleted with it; what kir check has
// counted kir sample finds on any machine that shares the directory.
const cacheName = ".kir-cache"

// cacheMagic begins each file: what it is, and of which version. The key follows,
// then the SHA-256 of the data, then the data.
const cacheMagic = "kir counts 1\n"

const (
	cacheFile = 64 << 20  // the largest file that is written or read
	cacheAll  = 256 << 20 // what all files take at most, the oldest being removed
)

// A cache is a [mcmc.Cache] in a directory. It is a convenience: what cannot be read
// is as if it were not there, and what cannot be written is not.
type cache struct{ dir string }

func (c cache) path(key [sha256.Size]byte) string {
	return filepath.Join(c.dir, hex.EncodeToString(key[:16])+".kir")
}

// Load returns what was stored, nil if there is nothing or it is not whole.
func (c cache) Load(key [sha256.Size]byte) []byte {
	f, err := os.Open(c.path(key))
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, cacheFile+1))
	if err != nil || len(data) > cacheFile {
		return nil
	}
	data, magic := bytes.CutPrefix(data, []byte(cacheMagic))
	data, own := bytes.CutPrefix(data, key[:])
	if !magic || !own || len(data) < sha256.Size {
		return nil
	}
	sum, data := data[:sha256.Size], data[sha256.Size:]
	if is := sha256.Sum256(data); !bytes.Equal(is[:], sum) {
		return nil
	}
	return data
}

// Store writes a file under another name and moves it into its place, whole.
func (c cache) Store(key [sha256.Size]byte, data []byte) {
	sum := sha256.Sum256(data)
	whole := slices.Concat([]byte(cacheMagic), key[:], sum[:], data)
	if len(whole) > cacheFile || os.MkdirAll(c.dir, 0o777) != nil {
		return
	}
	// The directory keeps itself out of repositories.
	if ignore := filepath.Join(c.dir, ".gitignore"); os.WriteFile(ignore, []byte("*\n"), 0o666) != nil {
		return
	}
	temp, err := os.CreateTemp(c.dir, "*.new")
	if err != nil {
		return
	}
	_, err = temp.Write(whole)
	if err = cmp.Or(err, temp.Sync(), temp.Chmod(0o644)); temp.Close() != nil || err != nil || os.Rename(temp.Name(), c.path(key)) != nil {
		os.Remove(temp.Name())
		return
	}
	c.prune()
}

// prune removes the oldest files until the rest is small enough.
func (c cache) prune() {
	names, err := filepath.Glob(filepath.Join(c.dir, "*.kir"))
	if err != nil {
		return
	}
	type file struct {
		name string
		info fs.FileInfo
	}
	var files []file
	all := int64(0)
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			files = append(files, file{name, info})
			all += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b file) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	for _, f := range files {
		if all <= cacheAll {
			return
		}
		if os.Remove(f.name) == nil {
			all -= f.info.Size()
		}
	}
}
