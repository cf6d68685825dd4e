package compile

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

	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/property"
)

// Limits of the files that are hashed for consent. If a command exceeds a limit, consent to the command cannot
// be stored.
const (
	maxConsentEntries      = 100_000   // maximum number of files and directories that are visited
	maxConsentFiles        = 10_000    // maximum number of files that are read
	maxConsentBytes        = 1 << 30   // maximum total size of the files that are read
	maxConsentPathBytes    = 4096      // maximum length of a part of a word that is tried as a path
	maxConsentCommandBytes = 128 << 10 // maximum length of the words of a command, joined by spaces
)

// A commandHasher hashes the files that a command names. It tries several parts of each word of the command as
// paths. For example, it finds s.py in the words --file=s.py and -fs.py, and in "python3 s.py" after sh -c. The
// parts are:
//
//   - the whole word,
//   - its parts between blanks and similar characters,
//   - the part after "=",
//   - the rest of a flag after each of its letters.
type commandHasher struct {
	ctx              context.Context
	dir              string // the directory of the problem file, with symbolic links resolved
	hash             hash.Hash
	hashedPaths      map[string]bool // paths that were hashed; a prefix such as "read " or "modules " tells how
	entryCount       int             // number of files and directories visited
	hashedFiles      []string        // paths of the files that were hashed
	hashedByteCount  int64           // total size of the files that were hashed
	incompleteErr    error           // the reason why the hash does not cover every file that the command names; nil if it covers all
	importExtensions [][]string      // one item for each interpreter in the command: the extensions of the files that its language loads
}

// markIncomplete records the reason why the hash does not cover every file that the command names. Only the
// first reason is kept.
func (f *commandHasher) markIncomplete(path, why string) {
	if f.incompleteErr == nil {
		f.incompleteErr = &inputerr.Error{
			Message: fmt.Sprintf("consent to the command cannot be remembered: it names %s, %s", inputerr.Quote(path), why),
			Hint:    "put the program with what it needs into a directory of its own and name nothing else, or allow it each time with --allow-programs",
		}
	}
	hashTexts(f.hash, "partial", path)
}

// pathSeparators matches the characters that separate the parts of a word that may be paths.
var pathSeparators = regexp.MustCompile("[\\s=:,;@\"'`<>|&(){}$]+")

// pathCandidates returns the parts of a word that may be paths. Their order depends only on the word.
func pathCandidates(word string) (all []string) {
	take := func(text string) {
		if text != "" && len(text) <= maxConsentPathBytes {
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

// hashWord hashes the files that a word may name. If programs is true, the word may also name a program in the
// PATH. This serves #! lines, in which a program such as python3 may follow the command env.
func (f *commandHasher) hashWord(word string, programs bool) error {
	for _, name := range pathCandidates(word) {
		if err := f.hashPath(name); err != nil {
			return err
		}
		// Node and Ruby load main.js if main is asked for.
		for _, endings := range f.importExtensions {
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

// hashPath hashes the file or directory at a path. It does nothing if the path does not exist.
func (f *commandHasher) hashPath(name string) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	path = filepath.Clean(path)
	if isProcessStream(path) || path == filepath.Dir(path) {
		return nil // a stream of this process, or the root directory
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // no such file
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	// The location of a link matters too, because programs look beside it.
	at := path
	if parent, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		at = filepath.Join(parent, filepath.Base(path))
	}
	if f.hashedPaths[at] {
		return nil
	}
	f.hashedPaths[at] = true
	hashTexts(f.hash, "named", at, real)
	if info.IsDir() {
		return f.hashDirectory(real, real, []fs.FileInfo{info}, nil)
	}
	if err := f.hashContents(real, info); err != nil || !info.Mode().IsRegular() {
		return err
	}
	line, err := f.hashInterpreter(real)
	if err != nil {
		return err
	}
	return f.hashSiblingFiles(real, line)
}

// isProcessStream reports whether a path, such as /dev/stdin, stands for an open file of the process that opens
// it.
func isProcessStream(path string) bool {
	return slices.Contains([]string{"/dev/stdin", "/dev/stdout", "/dev/stderr"}, path) ||
		strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/")
}

// hashContents hashes the contents of a regular file. For any other file it hashes the type.
func (f *commandHasher) hashContents(path string, info fs.FileInfo) error {
	mode := info.Mode()
	hashTexts(f.hash, "file", strconv.FormatBool(mode&0o111 != 0), mode.Type().String())
	switch {
	case mode&fs.ModeCharDevice != 0:
		return nil // such as /dev/null
	case !mode.IsRegular():
		f.markIncomplete(path, "which is not a regular file")
		return nil
	case len(f.hashedFiles) >= maxConsentFiles:
		f.markIncomplete(path, fmt.Sprintf("and with it more than %d files", maxConsentFiles))
		return nil
	case info.Size() > maxConsentBytes-f.hashedByteCount:
		f.markIncomplete(path, fmt.Sprintf("and with it more than %d MiB", maxConsentBytes>>20))
		return nil
	}
	in, err := file.Open(f.ctx, path)
	if err != nil {
		// A file may be executable without being readable.
		f.markIncomplete(path, "which cannot be read")
		return nil
	}
	defer in.Close() // opened for reading: no data can be lost
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(in, maxConsentBytes-f.hashedByteCount+1))
	if err != nil {
		return err
	}
	if f.hashedByteCount += n; f.hashedByteCount > maxConsentBytes {
		f.markIncomplete(path, fmt.Sprintf("and with it more than %d MiB", maxConsentBytes>>20))
	}
	if !f.hashedPaths["read "+path] {
		f.hashedPaths["read "+path] = true
		f.hashedFiles = append(f.hashedFiles, path)
	}
	hashTexts(f.hash, hex.EncodeToString(sum.Sum(nil)))
	return nil
}

// hashDirectory hashes the files in the directory dir and in the directories below it, in the order of their
// names. It follows symbolic links. The parameter ancestors lists dir and the directories above it, from root
// on. It skips files that kir writes, and files for which the function accept returns false. A nil accept
// accepts all files.
func (f *commandHasher) hashDirectory(root, dir string, ancestors []fs.FileInfo, accept func(name string) bool) error {
	if f.incompleteErr != nil {
		return nil // the consent cannot be stored anyway
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
		if f.entryCount++; f.entryCount > maxConsentEntries {
			f.markIncomplete(root, fmt.Sprintf("with more than %d files in it", maxConsentEntries))
			return nil
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		if err != nil {
			hashTexts(f.hash, "nothing", path) // a link without a target
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
			if k := slices.IndexFunc(ancestors, func(a fs.FileInfo) bool { return os.SameFile(a, info) }); k >= 0 {
				hashTexts(f.hash, "above", path, strconv.Itoa(k)) // a cycle: this directory is being hashed
				continue
			}
			if accept != nil && isInstalledDir(e.Name()) {
				continue
			}
			if err := f.hashDirectory(root, path, append(slices.Clone(ancestors), info), accept); err != nil {
				return err
			}
		case accept != nil && !accept(e.Name()), isKirFile(dir, e, info):
		default:
			hashTexts(f.hash, "below", path)
			if err := f.hashContents(path, info); err != nil {
				return err
			}
			if accept == nil && info.Mode().IsRegular() {
				if _, err := f.hashInterpreter(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isInstalledDir reports whether a directory next to a script holds libraries or the internal files of a tool,
// such as .git. Only the name of the directory counts, not its contents: an attacker who adds a package could
// also add contents. Except for node_modules, Python cannot import any of these names, so no module in such a
// directory can hide another module.
func isInstalledDir(name string) bool {
	return name == "site-packages" || name == "node_modules" || strings.HasPrefix(name, ".")
}

// kirFilePatterns match the names of files that kir writes for a problem. The pattern directory matches the
// name of the directory that has the file; nil means any directory. No such file has the extension of a
// program.
var kirFilePatterns = []struct{ name, directory *regexp.Regexp }{
	{regexp.MustCompile(`\.results\.csv$|\.batch-\d{3,}\.(json|csv)$|\.steps\.json$|^tasted\.csv(\.before)?$`), nil},
	{regexp.MustCompile(`^\..*\.(lock|page)$|\.\d+\.new$`), nil},
	{regexp.MustCompile(`^(run|summary)\.json$|^report\.html$|^problem\.yaml$`), nil},
	{regexp.MustCompile(`^part-\d+\.parquet$`), regexp.MustCompile(`^chain=\d+$`)},
	{regexp.MustCompile(`^chain=\d+\.kir$|^lock$`), regexp.MustCompile(`^state$`)},
	{regexp.MustCompile(`^[0-9a-f]{32}\.kir$|^\.gitignore$`), regexp.MustCompile(`^\.kir-cache$`)},
}

// isKirFile reports whether e is a file that kir writes. Its name must match [kirFilePatterns], and it must be
// a regular file that is not executable.
func isKirFile(dir string, e fs.DirEntry, info fs.FileInfo) bool {
	if !e.Type().IsRegular() || info.Mode()&0o111 != 0 {
		return false
	}
	for _, k := range kirFilePatterns {
		if k.name.MatchString(e.Name()) && (k.directory == nil || k.directory.MatchString(filepath.Base(dir))) {
			return true
		}
	}
	return false
}

// hashInterpreter hashes the files that the #! line of a script names. It returns the words of the #! line.
func (f *commandHasher) hashInterpreter(path string) ([]string, error) {
	in, err := file.Open(f.ctx, path)
	if err != nil {
		return nil, nil // hashContents has reported the error
	}
	defer in.Close() // opened for reading: no data can be lost
	line, err := bufio.NewReader(io.LimitReader(in, maxConsentPathBytes)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil, nil
	}
	words := strings.Fields(line)
	defer func(endings [][]string) { f.importExtensions = endings }(f.importExtensions)
	f.importExtensions = nil // the command's endings do not apply to the words of the #! line
	for _, word := range words {
		if err := f.hashWord(word, true); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// siblingExtensions maps the extension of a script to the extensions of the files that it may load from its
// directory.
var siblingExtensions = map[string][]string{
	".py": pythonExtensions, ".pyw": pythonExtensions, ".pyc": pythonExtensions, ".pyz": pythonExtensions,
	".sh": {".sh"}, ".bash": {".bash", ".sh"},
	".js": nodeExtensions, ".mjs": nodeExtensions, ".cjs": nodeExtensions,
	".rb": {".rb", ".so"}, ".pl": {".pl", ".pm", ".so"}, ".lua": {".lua", ".so"}, ".jl": {".jl"}, ".r": {".r"},
}

// Extensions of the files that a language loads as modules.
var (
	pythonExtensions = []string{".py", ".pyc", ".pyd", ".so"}
	nodeExtensions   = []string{".js", ".mjs", ".cjs", ".node", ".json"}
)

// interpreters lists programs that can run a script without an extension. Each program has a pattern for its
// name and the extensions of the files that its scripts load.
var interpreters = []struct {
	namePattern *regexp.Regexp
	extensions  []string
}{
	{regexp.MustCompile(`^((python|pypy)[0-9.]*[a-z]?|pyw?)(\.exe)?$`), pythonExtensions},
	{regexp.MustCompile(`^(ba|da|k|z)?sh(\.exe)?$`), siblingExtensions[".bash"]},
	{regexp.MustCompile(`^(node(js)?|deno|bun)(\.exe)?$`), nodeExtensions},
	{regexp.MustCompile(`^ruby[0-9.]*(\.exe)?$`), siblingExtensions[".rb"]},
	{regexp.MustCompile(`^perl[0-9.]*(\.exe)?$`), siblingExtensions[".pl"]},
	{regexp.MustCompile(`^lua(jit)?[0-9.]*(\.exe)?$`), siblingExtensions[".lua"]},
}

// interpreterExtensions returns one item for each interpreter that the words name. The item lists the
// extensions of the files that the language of the interpreter loads.
func interpreterExtensions(words []string) (all [][]string) {
	for _, of := range interpreters {
		if slices.ContainsFunc(words, func(word string) bool {
			return slices.ContainsFunc(pathCandidates(word), func(piece string) bool {
				return of.namePattern.MatchString(strings.ToLower(filepath.Base(piece)))
			})
		}) {
			all = append(all, of.extensions)
		}
	}
	return all
}

// hashSiblingFiles hashes the files that a script may load from its own directory. The language follows from
// the extension of the script, or else from shebangWords, the words of its #! line. If the script has no
// extension, the interpreters that the command names count too.
func (f *commandHasher) hashSiblingFiles(path string, shebangWords []string) error {
	ending := strings.ToLower(filepath.Ext(path))
	all := [][]string{siblingExtensions[ending]}
	if all[0] == nil {
		all = interpreterExtensions(shebangWords)
		// The first file is the program itself. An interpreter loads nothing from its own directory.
		if ending == "" && len(f.hashedFiles) > 1 && interpreterExtensions([]string{filepath.Base(path)}) == nil {
			all = append(all, f.importExtensions...)
		}
	}
	for _, endings := range all {
		if err := f.hashModules(filepath.Dir(path), endings); err != nil {
			return err
		}
	}
	return nil
}

// hashModules hashes the files with the given extensions in a directory and in the directories below it.
func (f *commandHasher) hashModules(dir string, endings []string) error {
	key := "modules " + endings[0] + " " + dir
	info, err := os.Stat(dir)
	if err != nil || f.hashedPaths[key] {
		return nil
	}
	f.hashedPaths[key] = true
	hashTexts(f.hash, "modules", dir)
	return f.hashDirectory(dir, dir, []fs.FileInfo{info}, func(name string) bool {
		return slices.Contains(endings, strings.ToLower(filepath.Ext(name)))
	})
}

// hashImportedModules hashes the modules in the directory of the problem file, because some programs load modules from
// there: Python, if the words of the command pass code or a module name, and Node, if they pass code.
func (f *commandHasher) hashImportedModules(words []string) error {
	asks := slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(pathCandidates(word), func(piece string) bool {
			return strings.HasPrefix(piece, "-") && !strings.HasPrefix(piece, "--") && strings.ContainsAny(piece, "mcep")
		})
	})
	for _, endings := range f.importExtensions {
		if asks && (endings[0] == pythonExtensions[0] || endings[0] == nodeExtensions[0]) {
			if err := f.hashModules(f.dir, endings); err != nil {
				return err
			}
		}
	}
	return nil
}
