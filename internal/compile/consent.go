package compile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"kir/internal/config"
	"kir/internal/config/yaml"
	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/terminal"
	"kir/property"
)

// A Command is a program that a problem file names. It runs with the rights of the user who samples the
// problem. Therefore it runs only if the user allowed it, by [AllowPrograms], [AllowCommands] or
// [Command.Trust].
type Command struct {
	Words []string // the program and its arguments, which are not passed through a shell
	Dir   string   // working directory: the directory of the problem file

	key         string
	hashedFiles []string // paths of the files that were hashed into the key; see [Command.Files]
	trustErr    error    // the reason why consent to the command cannot be stored; nil if it can
}

// Key returns the key under which the user's consent to the command is stored. It is a SHA-256 in hexadecimal.
// It depends on the words of the command, the directory of the problem, and the names and contents of
// [Command.Files]. Other parts of the problem do not change the key.
func (c *Command) Key() string { return c.key }

// Files returns the files whose names and contents are part of [Command.Key]:
//
//   - the program,
//   - files that the words of the command name,
//   - all files of directories that the words name, except non-executable files that kir writes (results,
//     batches, runs, locks, counts),
//   - the interpreter of a #! line, and the files that the #! line names,
//   - for a script, the files in and below its directory that its language may load, which their extensions
//     tell.
//
// The language of a script follows from its extension, or else from its #! line. For a script without an
// extension it also follows from the interpreters that the command names. Symbolic links are followed.
func (c *Command) Files() []string { return c.hashedFiles }

// TrustError returns the reason why consent to the command cannot be stored, or nil. The reason is that the
// command names too many files, or something without permanent contents.
func (c *Command) TrustError() error { return c.trustErr }

// Lines returns the complete command for display. The first line is the directory. Each further line is one
// word of the command, quoted and not shortened.
func (c *Command) Lines() []string {
	lines := []string{"in " + strconv.Quote(c.Dir)}
	for _, word := range c.Words {
		lines = append(lines, strconv.Quote(word))
	}
	return lines
}

// consentContextKey is the type of a context key. Its value in a context is a function that reports which
// commands are allowed.
type consentContextKey struct{}

// AllowPrograms returns a context in which problems may run all programs that they name.
func AllowPrograms(ctx context.Context) context.Context {
	return AllowCommands(ctx, func(*Command) bool { return true })
}

// AllowCommands returns a context in which problems may run a program in three cases: the function allowed
// returns true for its command, the user trusts the command, or the context ctx allows it. The function allowed
// may be called from several goroutines at once.
func AllowCommands(ctx context.Context, allowed func(*Command) bool) context.Context {
	outer, _ := ctx.Value(consentContextKey{}).(func(*Command) bool)
	return context.WithValue(ctx, consentContextKey{}, func(c *Command) bool {
		return outer != nil && outer(c) || allowed(c)
	})
}

// readCommand reads the command of a property that a program scores. The parameter dir is the directory of the
// problem file.
func readCommand(ctx context.Context, n *yaml.Node, dir string) (*Command, error) {
	if err := n.Require("the program", "write {command: [python3, scorer.py]}", "command"); err != nil {
		return nil, err
	}
	words := n.Get("command").ItemsOrSelf()
	if len(words) == 0 {
		return nil, yaml.Hint(n.Get("command").Errorf("the command is empty"), "write {command: [python3, scorer.py]}")
	}
	c := new(Command)
	for _, w := range words {
		word, err := w.Str("a word of the command")
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(word, 0) {
			return nil, w.Errorf("a word of the command has a zero byte in it")
		}
		c.Words = append(c.Words, word)
	}
	err := c.resolveProgram(ctx, dir)
	if err != nil && ctx.Err() == nil {
		e := words[0].Errorf("%v", err)
		e.Err = err
		return nil, yaml.Hint(e, "name a program on the PATH, or a path relative to the problem file such as ./scorer")
	}
	return c, err
}

// resolveProgram locates the program of the command and computes the key of the command.
func (c *Command) resolveProgram(ctx context.Context, dir string) (err error) {
	if c.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	program, err := property.FindProgram(c.Words[0], c.Dir)
	if err != nil {
		return err
	}
	home, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		return err
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return err
	}
	if n := len(strings.Join(c.Words, " ")); n > maxConsentCommandBytes {
		return fmt.Errorf("the command has %d bytes: it may have %d", n, maxConsentCommandBytes)
	}
	// Of what the hash covers nothing is shown, so it may be anywhere, as programs are.
	f := &commandHasher{ctx: file.Unconfined(ctx), dir: home, hash: sha256.New(), hashedPaths: make(map[string]bool), importExtensions: interpreterExtensions(c.Words)}
	hashTexts(f.hash, "kir consent 4", home, program, strconv.Itoa(len(c.Words)))
	hashTexts(f.hash, c.Words...)
	if err := f.hashPath(program); err != nil {
		return err
	}
	for _, word := range c.Words[1:] {
		if err := f.hashWord(word, false); err != nil {
			return err
		}
	}
	if err := f.hashImportedModules(c.Words); err != nil {
		return err
	}
	c.key, c.hashedFiles, c.trustErr = hex.EncodeToString(f.hash.Sum(nil)), f.hashedFiles, f.incompleteErr
	return nil
}

// checkUnchanged returns an error if one of [Command.Files] has changed since the key was computed.
func (c *Command) checkUnchanged() error {
	is := &Command{Words: c.Words}
	if err := is.resolveProgram(context.Background(), c.Dir); err != nil {
		return err
	}
	if is.key != c.key {
		return fmt.Errorf("the program %s or a file that it names or loads has changed since you allowed it to run: start kir again, and it will ask you about this program", inputerr.Quote(c.Words[0]))
	}
	return nil
}

// hashTexts writes each text to the hash h, preceded by the length of the text. Different lists of texts
// therefore have different hashes.
func hashTexts(h hash.Hash, texts ...string) {
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
}

// trustFilePath returns the path of the file that marks the command as trusted.
func (c *Command) trustFilePath() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "kir", "trusted", c.key), err
}

// Trusted reports whether the user trusts the command, and the command and its [Command.Files] have not changed
// since. It does not detect changes of the following:
//
//   - installed libraries (of the system, in site-packages or node_modules),
//   - what the environment adds, such as PYTHONPATH,
//   - files that a program opens by itself,
//   - files that change after the check, before the program starts or while it runs.
func (c *Command) Trusted() bool {
	if c.trustErr != nil {
		return false
	}
	path, err := c.trustFilePath()
	if err == nil {
		_, err = os.Stat(path)
	}
	return err == nil
}

// Trust records in the user's configuration directory that the command may run.
func (c *Command) Trust() error {
	if c.trustErr != nil {
		return c.trustErr
	}
	path, err := c.trustFilePath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	dir := file.Dir{Path: filepath.Dir(path), Mode: 0o600}
	return dir.Replace(filepath.Base(path), []byte(strings.Join(c.Lines(), "\n")+"\n"))
}

// A ConsentError reports that a problem names programs that the user has not allowed. Its text lists the
// directory of each program and each word of its command, one a line.
type ConsentError struct {
	Commands []*Command      // commands that are not allowed
	cause    *inputerr.Error // the error at the position of the first command in the file
}

func (e *ConsentError) Error() string {
	lines := []string{e.cause.Error()}
	for _, c := range e.Commands {
		for k, line := range c.Lines() {
			lines = append(lines, strings.Repeat("  ", min(k, 1)+1)+line)
		}
	}
	return strings.Join(lines, "\n")
}

func (e *ConsentError) Unwrap() error { return e.cause }

// requireConsent returns a [ConsentError] if one of the commands is not allowed. The node n is that of the
// first command, where the error is placed.
func requireConsent(ctx context.Context, n *yaml.Node, all ...*Command) error {
	allowed, _ := ctx.Value(consentContextKey{}).(func(*Command) bool)
	e := new(ConsentError)
	for _, c := range all {
		if (allowed == nil || !allowed(c)) && !c.Trusted() {
			e.Commands = append(e.Commands, c)
		}
	}
	if len(e.Commands) == 0 {
		return nil
	}
	e.cause = n.Errorf("the problem runs a program with your rights")
	e.cause.Hint = "look at the command; then allow it this once with --allow-programs, or from now on with kir trust " + terminal.ShellWord(n.File)
	return e
}

// ReadCommands returns the commands that a problem file names. It runs no command. If text is not nil, it
// replaces the contents of the file.
func ReadCommands(ctx context.Context, path string, text []byte) ([]*Command, error) {
	files := &yaml.Files{Dir: filepath.Dir(path), OnRead: func(string, []byte, int64) {}}
	root, err := readProblemText(ctx, files, path, text)
	if err != nil {
		return nil, err
	}
	file, err := config.Read(root, path, allKinds().configKinds(), &config.Diagnostics{File: root.File, Root: root})
	if err != nil {
		return nil, err
	}
	all, _, err := findCommands(ctx, file, files.Dir)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// findCommands returns the valid commands that a problem file names. The result first is the YAML node of the
// first valid command, and err is the first error in an invalid command.
func findCommands(ctx context.Context, file *config.Problem, dir string) (all []*Command, first *yaml.Node, err error) {
	for _, e := range file.Properties {
		v, ok := e.Value.Value.(*config.Program)
		if !ok {
			continue
		}
		c, bad := readCommand(ctx, e.Value.Node, dir)
		if bad != nil {
			err = cmp.Or(err, bad)
			continue
		}
		if all = append(all, c); first == nil {
			first = v.Command
		}
	}
	return all, first, err
}
