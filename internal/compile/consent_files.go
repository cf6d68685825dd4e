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

// Limits of the files that are hashed for consent. Consent to a command that exceeds them cannot be stored.
const (
	consentEntries = 100_000 // files and directories visited
	consentFiles   = 10_000  // files read
	consentBytes   = 1 << 30
	consentPath    = 4096 // length of a part of a word that is tried as a path
	consentWords   = 128 << 10
)

// A fingerprint hashes the files that a command names. It tries several parts of each word as paths: the
// whole word, its parts between blanks and similar characters, the part after "=", and the rest of a flag
// after each of its letters. So it finds s.py in --file=s.py, -fs.py and sh -c "python3 s.py".
type fingerprint struct {
	ctx        context.Context
	dir        string // the problem's directory, with links resolved
	hash       hash.Hash
	seen       map[string]bool
	entries    int
	files      []string // files that were hashed
	bytes      int64
	incomplete error      // why the hash does not cover everything; nil if it does
	endings    [][]string // endings that the languages of the named interpreters load
}

// markIncomplete records why the hash does not cover everything that the command names.
func (f *fingerprint) markIncomplete(path, why string) {
	if f.incomplete == nil {
		f.incomplete = &inputerr.Error{
			Message: fmt.Sprintf("consent to the command cannot be remembered: it names %s, %s", inputerr.Quote(path), why),
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

// hashWord hashes the files that a word may name. If programs is true, it also looks for programs of the
// PATH, because in a #! line env may precede them.
func (f *fingerprint) hashWord(word string, programs bool) error {
	for _, name := range pathCandidates(word) {
		if err := f.hashPath(name); err != nil {
			return err
		}
		// Node and Ruby load main.js if main is asked for.
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

// hashPath hashes the file or directory at a path, if it exists.
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

// isStream reports whether a path leads to open files of the process that opens it.
func isStream(path string) bool {
	return slices.Contains([]string{"/dev/stdin", "/dev/stdout", "/dev/stderr"}, path) ||
		strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/")
}

// hashContents hashes the contents of a file, or the type of a special file.
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
		// A file may be executable without being readable.
		f.markIncomplete(path, "which cannot be read")
		return nil
	}
	defer in.Close() // opened for reading: no data can be lost
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

// hashTree hashes the files in and below a directory, in the order of their names. It follows links. above
// has the directory and its parents. It skips files for which take is false, and files that kir writes.
func (f *fingerprint) hashTree(root, dir string, above []fs.FileInfo, take func(name string) bool) error {
	if f.incomplete != nil {
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
		if f.entries++; f.entries > consentEntries {
			f.markIncomplete(root, fmt.Sprintf("with more than %d files in it", consentEntries))
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
			if k := slices.IndexFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, info) }); k >= 0 {
				hashTexts(f.hash, "above", path, strconv.Itoa(k)) // a cycle: this directory is being hashed
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

// isInstalled reports, by name alone, whether a directory beside a script holds libraries or a tool's own
// files. Except for node_modules, Python cannot import any of these names, so no module in them can hide
// one elsewhere. The directory's contents must not matter: an attacker who adds a package could also add
// the contents.
func isInstalled(name string) bool {
	return name == "site-packages" || name == "node_modules" || strings.HasPrefix(name, ".")
}

// kirFiles are the names of files that kir writes for a problem, with the name of their directory if it
// matters. No ending is that of a program.
var kirFiles = []struct{ name, in *regexp.Regexp }{
	{regexp.MustCompile(`\.results\.csv$|\.batch-\d{3,}\.(json|csv)$|\.steps\.json$|^tasted\.csv(\.before)?$`), nil},
	{regexp.MustCompile(`^\..*\.(lock|page)$|\.\d+\.new$`), nil},
	{regexp.MustCompile(`^(run|summary)\.json$|^report\.html$|^problem\.yaml$`), nil},
	{regexp.MustCompile(`^part-\d+\.parquet$`), regexp.MustCompile(`^chain=\d+$`)},
	{regexp.MustCompile(`^chain=\d+\.kir$|^lock$`), regexp.MustCompile(`^state$`)},
	{regexp.MustCompile(`^[0-9a-f]{32}\.kir$|^\.gitignore$`), regexp.MustCompile(`^\.kir-cache$`)},
}

// isKirFile reports whether kir writes a file itself. The file must have such a name, be a regular file and
// not be executable.
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

// hashInterpreter hashes the files that a script's #! line names, and returns the words of the line.
func (f *fingerprint) hashInterpreter(path string) ([]string, error) {
	in, err := file.Open(f.ctx, path)
	if err != nil {
		return nil, nil // hashContents has reported the error
	}
	defer in.Close() // opened for reading: no data can be lost
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
	f.endings = nil // the command's endings do not apply to the words of the #! line
	for _, word := range words {
		if err := f.hashWord(word, true); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// siblingEndings maps the ending of a script to the endings of files that it may load from its directory.
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

// interpreters are programs that run scripts of any ending, with the endings of files that they load.
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

// endingsOf returns the endings that the interpreters among the words load.
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

// hashSiblings hashes the files that a script may load from its own directory. The script's ending decides
// which; without a known ending, the words of its #! line do. If the script has no ending at all, the
// interpreters that the command names count too.
func (f *fingerprint) hashSiblings(path string, line []string) error {
	ending := strings.ToLower(filepath.Ext(path))
	all := [][]string{siblingEndings[ending]}
	if all[0] == nil {
		all = endingsOf(line)
		// The first file is the program itself. An interpreter loads nothing from its own directory.
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

// hashModules hashes the files with some endings in and below a directory.
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

// hashImports hashes the modules in the problem's directory if Python gets a module name or code on the
// command line, or Node gets code. They then load modules from there.
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
