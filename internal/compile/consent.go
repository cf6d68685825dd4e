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

// A Command is a program that a problem names. It runs with the rights of the user who samples the problem,
// so it runs only if the user allowed it: by [AllowPrograms], [AllowCommands] or [Command.Trust].
type Command struct {
	Words []string // the program and its arguments; no shell reads them
	Dir   string   // working directory: the problem's directory

	key      string
	files    []string
	trustErr error
}

// Key returns the key under which consent to the command is stored. It is the SHA-256, in hexadecimal, of
// the command's words, the problem's directory, and the names and contents of [Command.Files]. Other parts
// of the problem do not change it.
func (c *Command) Key() string { return c.key }

// Files returns the files whose names and contents are part of the key:
//
//   - the program,
//   - files that the command's words name,
//   - all files of directories that the words name, without non-executable files that kir writes (results,
//     batches, runs, locks, counts),
//   - the interpreter of a #! line, and the files that the line names,
//   - for a script, the files in and below its directory that its language may load, by their endings.
//
// The language of a script follows from its ending, or else from its #! line. For a script without an
// ending it also follows from the interpreters that the command names. Links are followed.
func (c *Command) Files() []string { return c.files }

// TrustError returns why consent to the command cannot be stored, or nil. The command names too many files,
// or something without permanent contents.
func (c *Command) TrustError() error { return c.trustErr }

// Lines returns the whole command for display: the directory, then each word on its own line, quoted.
// Nothing is cut.
func (c *Command) Lines() []string {
	lines := []string{"in " + strconv.Quote(c.Dir)}
	for _, word := range c.Words {
		lines = append(lines, strconv.Quote(word))
	}
	return lines
}

type consentKey struct{}

// AllowPrograms returns a context with which loaded problems may run all programs.
func AllowPrograms(ctx context.Context) context.Context {
	return AllowCommands(ctx, func(*Command) bool { return true })
}

// AllowCommands returns a context with which loaded problems may run the programs for which allowed returns
// true, in addition to those that the user trusts. allowed may be called from several goroutines at once.
// Programs that an outer context allows stay allowed.
func AllowCommands(ctx context.Context, allowed func(*Command) bool) context.Context {
	outer, _ := ctx.Value(consentKey{}).(func(*Command) bool)
	return context.WithValue(ctx, consentKey{}, func(c *Command) bool {
		return outer != nil && outer(c) || allowed(c)
	})
}

// readCommand reads the command of a program property.
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

// resolveProgram locates the program and computes the key.
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
	if n := len(strings.Join(c.Words, " ")); n > consentWords {
		return fmt.Errorf("the command has %d bytes: it may have %d", n, consentWords)
	}
	f := &fingerprint{ctx: ctx, dir: home, hash: sha256.New(), seen: make(map[string]bool), endings: endingsOf(c.Words)}
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
	if err := f.hashImports(c.Words); err != nil {
		return err
	}
	c.key, c.files, c.trustErr = hex.EncodeToString(f.hash.Sum(nil)), f.files, f.incomplete
	return nil
}

// checkUnchanged returns an error if the command differs from what the user consented to.
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

// hashTexts hashes each text after its length, so that different lists of texts have different hashes.
func hashTexts(h hash.Hash, texts ...string) {
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
}

// trustFile returns the path of the file that marks the command as trusted.
func (c *Command) trustFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "kir", "trusted", c.key), err
}

// Trusted reports whether the user trusts the command and its words and [Command.Files] have not changed
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
	path, err := c.trustFile()
	if err == nil {
		_, err = os.Stat(path)
	}
	return err == nil
}

// Trust records, in the user's configuration directory, that the command may run.
func (c *Command) Trust() error {
	if c.trustErr != nil {
		return c.trustErr
	}
	path, err := c.trustFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	dir := file.Dir{Path: filepath.Dir(path), Mode: 0o600}
	return dir.Replace(filepath.Base(path), []byte(strings.Join(c.Lines(), "\n")+"\n"))
}

// A ConsentError reports that a problem names programs that the user has not allowed. Its text has a line
// for the directory of each program and for each word of its command.
type ConsentError struct {
	Commands []*Command
	at       *inputerr.Error
}

func (e *ConsentError) Error() string {
	lines := []string{e.at.Error()}
	for _, c := range e.Commands {
		for k, line := range c.Lines() {
			lines = append(lines, strings.Repeat("  ", min(k, 1)+1)+line)
		}
	}
	return strings.Join(lines, "\n")
}

func (e *ConsentError) Unwrap() error { return e.at }

// requireConsent returns an error if a command is not allowed. n is the node of the first command.
func requireConsent(ctx context.Context, n *yaml.Node, all ...*Command) error {
	allowed, _ := ctx.Value(consentKey{}).(func(*Command) bool)
	e := new(ConsentError)
	for _, c := range all {
		if (allowed == nil || !allowed(c)) && !c.Trusted() {
			e.Commands = append(e.Commands, c)
		}
	}
	if len(e.Commands) == 0 {
		return nil
	}
	e.at = n.Errorf("the problem runs a program with your rights")
	e.at.Hint = "look at the command; then allow it this once with --allow-programs, or from now on with kir trust " + terminal.ShellWord(n.File)
	return e
}

// ReadCommands returns the commands that a problem names, without running any. A non-nil text replaces the
// contents of the file.
func ReadCommands(ctx context.Context, path string, text []byte) ([]*Command, error) {
	files := &yaml.Files{Dir: filepath.Dir(path), OnRead: func(string, []byte, int64) {}}
	root, err := readText(ctx, files, path, text)
	if err != nil {
		return nil, err
	}
	file, err := config.Read(root, path, allKinds().fileKinds(), &config.Diagnostics{File: root.File, Root: root})
	if err != nil {
		return nil, err
	}
	all, _, err := findCommands(ctx, file, files.Dir)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// findCommands returns the valid commands that a problem names, the node of the first, and the first error
// in the others.
func findCommands(ctx context.Context, file *config.Problem, dir string) (all []*Command, first *yaml.Node, err error) {
	for _, e := range file.Properties {
		v, ok := e.Value.Value.(*config.Program)
		if !ok {
			continue
		}
		c, bad := readCommand(ctx, e.Value.At, dir)
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
