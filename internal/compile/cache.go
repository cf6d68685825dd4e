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

// cacheDirName is the name of the cache directory, which lies in the directory of the problem file. The cache
// directory moves with the problem and is deleted with it. kir sample reuses the counts that kir check stored
// there, on every machine that shares the directory.
const cacheDirName = ".kir-cache"

// cacheFileHeader is the text at the start of each cache file: the name and the version of the file format.
// After the header a cache file has the key, the SHA-256 of the data, and the data.
const cacheFileHeader = "kir counts 1\n"

const (
	maxCacheFileBytes = 64 << 20  // maximum size of a cache file that is written or read
	maxCacheBytes     = 256 << 20 // maximum size of all cache files together; the oldest files are removed first
)

// A countCache is a [mcmc.Cache] that stores numbers of compositions in files of a directory. It ignores all
// errors: data that cannot be read count as missing, and data that cannot be written are not stored.
type countCache struct {
	dir file.Dir // directory of the problem file
}

// newCountCache returns the cache of the problems whose files are in the directory dir.
func newCountCache(dir string) countCache { return countCache{file.Dir{Path: dir}} }

// fileName returns the name of the file for a key, relative to the directory of the problem file.
func (c countCache) fileName(key [sha256.Size]byte) string {
	return cacheDirName + "/" + hex.EncodeToString(key[:16]) + cacheFileExtension
}

// cacheFileExtension is the extension of the names of cache files.
const cacheFileExtension = ".kir"

// Load returns the data stored under a key, or nil if there is no data or the file is damaged.
func (c countCache) Load(key [sha256.Size]byte) []byte {
	data, err := c.dir.Read(c.fileName(key), maxCacheFileBytes)
	if err != nil {
		return nil
	}
	data, magic := bytes.CutPrefix(data, []byte(cacheFileHeader))
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
func (c countCache) Store(key [sha256.Size]byte, data []byte) {
	sum := sha256.Sum256(data)
	whole := slices.Concat([]byte(cacheFileHeader), key[:], sum[:], data)
	if len(whole) > maxCacheFileBytes {
		return
	}
	// The directory has a .gitignore that excludes it from repositories.
	if err := c.dir.Create(cacheDirName+"/.gitignore", []byte("*\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return
	}
	if c.dir.Replace(c.fileName(key), whole) == nil {
		c.removeOldestFiles()
	}
}

// removeOldestFiles removes the oldest files until the remaining files have at most maxCacheBytes.
func (c countCache) removeOldestFiles() {
	files, _, err := c.dir.Walk(cacheDirName + "/")
	if err != nil {
		return
	}
	files = slices.DeleteFunc(files, func(e file.Entry) bool {
		return !strings.HasSuffix(e.Name, cacheFileExtension) || strings.Count(e.Name, "/") > 1 || !e.Mode().IsRegular()
	})
	all := int64(0)
	for _, f := range files {
		all += f.Size()
	}
	slices.SortStableFunc(files, func(a, b file.Entry) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if all <= maxCacheBytes {
			return
		}
		if c.dir.Remove(f.Name) == nil {
			all -= f.Size()
		}
	}
}
