package problem

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kir/internal/fault"
	"kir/internal/file"
	"kir/property"
)

// What consent looks at is bounded; a command that names more is never remembered.
const (
	consentEntries = 100_000 // files and directories that are come across
	consentFiles   = 10_000  // files that are read
	consentBytes   = 1 << 30
	consentPath    = 4096 // the longest part of a word that may be a path
	consentWords   = 128 << 10
)

// A fingerprint hashes the files that a command names. What a word names is the word, what
// of it stands between blanks and the like or behind "=", and the rest of a flag behind any
// of its letters, as far as it is there: --file=s.py, -fs.py, sh -c "python3 s.py".
type fingerprint struct {
	ctx        context.Context
	dir        string // the problem's, without links
	hash       hash.Hash
	seen       map[string]bool
	entries    int
	files      []string // that were read
	bytes      int64
	incomplete error      // why the hash is not of all that the command names
	endings    [][]string // what the languages load whose interpreters the command names
}

// markIncomplete keeps why the hash does not hold all.
func (f *fingerprint) markIncomplete(path, why string) {
	if f.incomplete == nil {
		f.incomplete = &fault.Error{
			Message: fmt.Sprintf("consent to the command cannot be remembered: it names %s, %s", fault.Quote(path), why),
			Hint:    "put the program with what it needs into a directory of its own and name nothing else, or allow it each time with --allow-programs",
		}
	}
	hashTexts(f.hash, "partial", path)
}

var pathSeparators = regexp.MustCompile("[\\s=:,;@\"'`<>|&(){}$]+")

// pathCandidates returns the parts of a word that may be paths, in a fixed order.
func pathCandidates(word string) (all []string) {
	take := func(text string) {
		if text != "" && len(text) <= consentPath {
			all = append(all, text)
		}
	}
	take(word)
	for k, c := range word {
		if c == '=' {
			take(word[k+1:])
		}
	}
	for _, piece := range pathSeparators.Split(word, -1) {
		take(piece)
		if strings.HasPrefix(piece, "-") {
			for k := range piece {
				if k > 1 {
					take(piece[k:])
				}
			}
		}
	}
	return all
}

// hashWord hashes what a word names. Programs of the PATH count where the word is one of a #!
// line, as behind env.
func (f *fingerprint) hashWord(word string, programs bool) error {
	for _, name := range pathCandidates(word) {
		if err := f.hashPath(name); err != nil {
			return err
		}
		// Node and Ruby find main.js where main is asked for.
		for _, endings := range f.endings {
			for _, ending := range endings {
				if err := f.hashPath(name + ending); err != nil {
					return err
				}
			}
		}
		if programs && !strings.ContainsAny(name, `/\`) {
			if path, err := property.FindProgram(name, f.dir); err == nil {
				if err := f.hashPath(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// hashPath hashes the file or the directory of a path, if there is one.
func (f *fingerprint) hashPath(name string) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	path = filepath.Clean(path)
	if isStream(path) || path == filepath.Dir(path) {
		return nil // the process's own, or the root of all files
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // there is nothing
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	// Where a link stands matters, too: programs look beside it.
	at := path
	if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		at = filepath.Join(parent, filepath.Base(path))
	}
	if f.seen[at] {
		return nil
	}
	f.seen[at] = true
	hashTexts(f.hash, "named", at, real)
	if info.IsDir() {
		return f.hashTree(real, real, []fs.FileInfo{info}, nil)
	}
	if err := f.hashContents(real, info); err != nil || !info.Mode().IsRegular() {
		return err
	}
	line, err := f.hashInterpreter(real)
	if err != nil {
		return err
	}
	return f.hashSiblings(real, line)
}

// isStream says whether a path leads to what the process that opens it has open.
func isStream(path string) bool {
	return slices.Contains([]string{"/dev/stdin", "/dev/stdout", "/dev/stderr"}, path) ||
		strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/")
}

// hashContents hashes a file, or what is in the place of one.
func (f *fingerprint) hashContents(path string, info fs.FileInfo) error {
	mode := info.Mode()
	hashTexts(f.hash, "file", strconv.FormatBool(mode&0o111 != 0), mode.Type().String())
	switch {
	case mode&fs.ModeCharDevice != 0:
		return nil // such as /dev/null
	case !mode.IsRegular():
		f.markIncomplete(path, "which is not a regular file")
		return nil
	case len(f.files) >= consentFiles:
		f.markIncomplete(path, fmt.Sprintf("and with it more than %d files", consentFiles))
		return nil
	case info.Size() > consentBytes-f.bytes:
		f.markIncomplete(path, fmt.Sprintf("and with it more than %d MiB", consentBytes>>20))
		return nil
	}
	in, err := file.Open(f.ctx, path)
	if err != nil {
		// It may be run and not read.
		f.markIncomplete(path, "which cannot be read")
		return nil
	}
	defer in.Close() // read only: nothing can be lost by it
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(in, consentBytes-f.bytes+1))
	if err != nil {
		return err
	}
	if f.bytes += n; f.bytes > consentBytes {
		f.markIncomplete(path, fmt.Sprintf("and with it more than %d MiB", consentBytes>>20))
	}
	if !f.seen["read "+path] {
		f.seen["read "+path] = true
		f.files = append(f.files, path)
	}
	hashTexts(f.hash, hex.EncodeToString(sum.Sum(nil)))
	return nil
}

// hashTree hashes the files of a directory and below, in the order of their names, links to
// others followed. above are the directory and those that it is in. Files for which take
// is false are left out, and so are those that kir writes.
func (f *fingerprint) hashTree(root, dir string, above []fs.FileInfo, take func(name string) bool) error {
	if f.incomplete != nil {
		return nil // nothing more would be remembered
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.markIncomplete(dir, "which cannot be read")
		return nil
	}
	for _, e := range entries {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if f.entries++; f.entries > consentEntries {
			f.markIncomplete(root, fmt.Sprintf("with more than %d files in it", consentEntries))
			return nil
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil {
			hashTexts(f.hash, "nothing", path) // a link that leads nowhere
			continue
		}
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := filepath.EvalSymlinks(path)
			if err != nil {
				return err
			}
			hashTexts(f.hash, "link", path, to)
		}
		switch {
		case info.IsDir():
			if k := slices.IndexFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }); k >= 0 {
				hashTexts(f.hash, "above", path, strconv.Itoa(k)) // a circle: it is being hashed
				continue
			}
			if take != nil && isInstalled(e.Name()) {
				continue
			}
			if err := f.hashTree(root, path, append(slices.Clone(above), info), take); err != nil {
				return err
			}
		case take != nil && !take(e.Name()), isKirFile(dir, e, info):
		default:
			hashTexts(f.hash, "below", path)
			if err := f.hashContents(path, info); err != nil {
				return err
			}
			if take == nil && info.Mode().IsRegular() {
				if _, err := f.hashInterpreter(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isInstalled says, by its name alone, whether a directory beside a script has libraries or
// a tool's own files. None of the names but node_modules can be imported in Python, so that
// no module there stands before one of the same name elsewhere. What a directory has in it
// must not count: whoever adds a package could add that, too.
func isInstalled(name string) bool {
	return name == "site-packages" || name == "node_modules" || strings.HasPrefix(name, ".")
}

// kirFiles are the names of files that kir writes while a problem is worked on, and what
// the directory they are in is called, if that matters. None is a program's by its ending.
var kirFiles = []struct{ name, in *regexp.Regexp }{
	{regexp.MustCompile(`\.results\.csv$|\.batch-\d{3,}\.(json|csv)$|\.steps\.json$|^tasted\.csv(\.before)?$`), nil},
	{regexp.MustCompile(`^\..*\.(lock|page)$|\.\d+\.new$`), nil},
	{regexp.MustCompile(`^(run|summary)\.json$|^report\.html$|^problem\.yaml$`), nil},
	{regexp.MustCompile(`^part-\d+\.parquet$`), regexp.MustCompile(`^chain=\d+$`)},
	{regexp.MustCompile(`^chain=\d+\.kir$|^lock$`), regexp.MustCompile(`^state$`)},
	{regexp.MustCompile(`^[0-9a-f]{32}\.kir$|^\.gitignore$`), regexp.MustCompile(`^\.kir-cache$`)},
}

// isKirFile says whether a file in a directory is one that kir writes itself: by its name,
// no link, and nothing that can be executed.
func isKirFile(dir string, e fs.DirEntry, info fs.FileInfo) bool {
	if !e.Type().IsRegular() || info.Mode()&0o111 != 0 {
		return false
	}
	for _, k := range kirFiles {
		if k.name.MatchString(e.Name()) && (k.in == nil || k.in.MatchString(filepath.Base(dir))) {
			return true
		}
	}
	return false
}

// hashInterpreter hashes what the #! line of a script names, and returns the words of the line.
func (f *fingerprint) hashInterpreter(path string) ([]string, error) {
	in, err := file.Open(f.ctx, path)
	if err != nil {
		return nil, nil // contents has said so
	}
	defer in.Close() // read only: nothing can be lost by it
	line, err := bufio.NewReader(io.LimitReader(in, consentPath)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil, nil
	}
	words := strings.Fields(line)
	defer func(endings [][]string) { f.endings = endings }(f.endings)
	f.endings = nil // the command's: they are no language of what the line names
	for _, word := range words {
		if err := f.hashWord(word, true); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// siblingEndings are the endings of scripts, with those of what they load from their directory.
var siblingEndings = map[string][]string{
	".py": pythonEndings, ".pyw": pythonEndings, ".pyc": pythonEndings, ".pyz": pythonEndings,
	".sh": {".sh"}, ".bash": {".bash", ".sh"},
	".js": nodeEndings, ".mjs": nodeEndings, ".cjs": nodeEndings,
	".rb": {".rb", ".so"}, ".pl": {".pl", ".pm", ".so"}, ".lua": {".lua", ".so"}, ".jl": {".jl"}, ".r": {".r"},
}

var (
	pythonEndings = []string{".py", ".pyc", ".pyd", ".so"}
	nodeEndings   = []string{".js", ".mjs", ".cjs", ".node", ".json"}
)

// interpreters are the programs that run a script, whatever its ending, with the endings of
// what they load.
var interpreters = []struct {
	name    *regexp.Regexp
	endings []string
}{
	{regexp.MustCompile(`^((python|pypy)[0-9.]*[a-z]?|pyw?)(\.exe)?$`), pythonEndings},
	{regexp.MustCompile(`^(ba|da|k|z)?sh(\.exe)?$`), siblingEndings[".bash"]},
	{regexp.MustCompile(`^(node(js)?|deno|bun)(\.exe)?$`), nodeEndings},
	{regexp.MustCompile(`^ruby[0-9.]*(\.exe)?$`), siblingEndings[".rb"]},
	{regexp.MustCompile(`^perl[0-9.]*(\.exe)?$`), siblingEndings[".pl"]},
	{regexp.MustCompile(`^lua(jit)?[0-9.]*(\.exe)?$`), siblingEndings[".lua"]},
}

// endingsOf returns the endings of what those interpreters load that are among the words.
func endingsOf(words []string) (all [][]string) {
	for _, of := range interpreters {
		if slices.ContainsFunc(words, func(word string) bool {
			return slices.ContainsFunc(pathCandidates(word), func(piece string) bool {
				return of.name.MatchString(strings.ToLower(filepath.Base(piece)))
			})
		}) {
			all = append(all, of.endings)
		}
	}
	return all
}

// hashSiblings hashes what a script may load from its own directory: by its ending, and for one
// without a known ending by the words of its #! line, and by the interpreters that the command
// names where the script has no ending at all.
func (f *fingerprint) hashSiblings(path string, line []string) error {
	ending := strings.ToLower(filepath.Ext(path))
	all := [][]string{siblingEndings[ending]}
	if all[0] == nil {
		all = endingsOf(line)
		// The first file is the program itself, and an interpreter loads nothing from beside it.
		if ending == "" && len(f.files) > 1 && endingsOf([]string{filepath.Base(path)}) == nil {
			all = append(all, f.endings...)
		}
	}
	for _, endings := range all {
		if err := f.hashModules(filepath.Dir(path), endings); err != nil {
			return err
		}
	}
	return nil
}

// hashModules hashes the files of some endings in a directory and below.
func (f *fingerprint) hashModules(dir string, endings []string) error {
	key := "modules " + endings[0] + " " + dir
	info, err := os.Stat(dir)
	if err != nil || f.seen[key] {
		return nil
	}
	f.seen[key] = true
	hashTexts(f.hash, "modules", dir)
	return f.hashTree(dir, dir, []fs.FileInfo{info}, func(name string) bool {
		return slices.Contains(endings, strings.ToLower(filepath.Ext(name)))
	})
}

// hashImports hashes the modules of the problem's directory where Python is given a module's
// name or a text, or Node a text: then they look there.
func (f *fingerprint) hashImports(words []string) error {
	asks := slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(pathCandidates(word), func(piece string) bool {
			return strings.HasPrefix(piece, "-") && !strings.HasPrefix(piece, "--") && strings.ContainsAny(piece, "mcep")
		})
	})
	for _, endings := range f.endings {
		if asks && (endings[0] == pythonEndings[0] || endings[0] == nodeEndings[0]) {
			if err := f.hashModules(f.dir, endings); err != nil {
				return err
			}
		}
	}
	return nil
}
