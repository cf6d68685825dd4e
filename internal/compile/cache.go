package compile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"kir/internal/file"
)

// cacheName is the cache directory beside a problem. It is visible there, moves with the problem and is
// deleted with it. kir sample reuses counts that kir check stored, on every machine that shares the
// directory.
const cacheName = ".kir-cache"

// cacheMagic begins each cache file and names its format and version. The key follows, then the SHA-256 of
// the data, then the data.
const cacheMagic = "kir counts 1\n"

const (
	maxCacheFile  = 64 << 20  // the largest file that is written or read
	maxCacheTotal = 256 << 20 // limit for all files together; the oldest are removed
)

// A cache is a [mcmc.Cache] in a directory of files. It ignores all errors: data that cannot be read is
// treated as missing, and data that cannot be written is not stored.
type cache struct{ dir file.Dir }

// newCache returns the cache of the problems in directory dir.
func newCache(dir string) cache { return cache{file.Dir{Path: dir}} }

// fileName returns the name of a key's file, relative to the problem's directory.
func (c cache) fileName(key [sha256.Size]byte) string {
	return cacheName + "/" + hex.EncodeToString(key[:16]) + cacheEnding
}

const cacheEnding = ".kir"

// Load returns the data of a key, or nil if there is none or the file is damaged.
func (c cache) Load(key [sha256.Size]byte) []byte {
	data, err := c.dir.Read(c.fileName(key), maxCacheFile)
	if err != nil {
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

// Store stores data under a key.
func (c cache) Store(key [sha256.Size]byte, data []byte) {
	sum := sha256.Sum256(data)
	whole := slices.Concat([]byte(cacheMagic), key[:], sum[:], data)
	if len(whole) > maxCacheFile {
		return
	}
	// The directory has a .gitignore that excludes it from repositories.
	if err := c.dir.Create(cacheName+"/.gitignore", []byte("*\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return
	}
	if c.dir.Replace(c.fileName(key), whole) == nil {
		c.prune()
	}
}

// prune removes the oldest files until the others fit in maxCacheTotal.
func (c cache) prune() {
	files, _, err := c.dir.Walk(cacheName + "/")
	if err != nil {
		return
	}
	files = slices.DeleteFunc(files, func(e file.Entry) bool {
		return !strings.HasSuffix(e.Name, cacheEnding) || strings.Count(e.Name, "/") > 1 || !e.Mode().IsRegular()
	})
	all := int64(0)
	for _, f := range files {
		all += f.Size()
	}
	slices.SortStableFunc(files, func(a, b file.Entry) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if all <= maxCacheTotal {
			return
		}
		if c.dir.Remove(f.Name) == nil {
			all -= f.Size()
		}
	}
}
