package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"

	"kir/internal/compile"
	"kir/internal/config/change"
	"kir/internal/config/yaml"
	"kir/internal/file"
	"kir/internal/inputerr"
	"kir/internal/report"
	"kir/internal/run"
)

// Options say how to serve the page of a problem.
type Options struct {
	File string // path of the problem file
	Text []byte // text of the problem file to use instead of the contents of File; nil: use the contents

	// TryKernels says whether short trials choose the kernel of the Markov chains, if the problem
	// does not state one.
	TryKernels bool
	Run        func(ctx context.Context, p *compile.Problem, dir string, progress func(run.Progress)) (*report.Model, error) // Run makes the run of a problem in the directory dir, as the command line does, and reports the progress.

	Version string // version of the program, which the batches of a campaign store

	Address string   // address to listen at, as host:port
	Hosts   []string // allowed host names in addition to the names of this machine

	TLSCert, TLSKey string // PEM files of a certificate and its private key; empty: no TLS

	// OnReady is called when the page can be opened. The address opens the page in one tab. The
	// file door redirects a browser to that address.
	OnReady      func(address, door string)
	OnNewAddress func(address string) // OnNewAddress is called with the next address each time an address was used. It may be nil.

	waitTimes *waitTimes // waiting times for tests; nil: defaultWaitTimes
}

// A waitTimes has the waiting times of a session.
type waitTimes struct {
	pauseBeforeRun time.Duration // minimum time for which a step is shown before the full run of the step begins
	endTimeout     time.Duration // maximum time to wait at the end until running work stops; a program of the problem may take minutes
	relearnDelay   time.Duration // time without a new result after which the page learns from the results
}

var defaultWaitTimes = waitTimes{pauseBeforeRun: time.Second, endTimeout: time.Second, relearnDelay: 1200 * time.Millisecond}

// A Session is a problem that a person changes step by step on the page. It has the history of
// steps and the running work on the current step.
type Session struct {
	options       Options
	problemPath   string              // path of the problem file
	problemDir    string              // directory of the problem file, with links resolved
	originalText  string              // text of the problem file when serving began
	allowedFiles  []string            // paths of files that originalText names, with links resolved; the problem may read these files
	scratchDir    *scratchDir         // temporary directory for runs
	bodySemaphore *semaphore.Weighted // limits the total bytes of request bodies in memory
	bodyTimeout   time.Duration       // maximum time in which a request body must arrive
	waitTimes     waitTimes
	hub           *hub
	modelCache    compile.ModelCache
	palette       palette
	campaignBoard campaignBoard // state of the campaign
	listVersion   atomic.Int64  // version of the latest shortlist

	mu              sync.Mutex
	ctx             context.Context
	history         *history          // tree of all steps
	workByStep      map[int]*stepWork // by id of a step: the latest work on the step; only recently visited steps
	runningWork     sync.WaitGroup    // counts running goroutines
	ended           bool              // whether the session has ended, so that no work may start
	activeWork      *stepWork         // work on the current step
	stepNotes       []string          // messages for the user about the current step
	allowedCommands map[string]bool   // keys of the programs that the user allowed to run
	amountConverter amountConverter   // converter for the amounts of the problem that was loaded last
}

// newSession returns a session for the problem file that the options name. It does not start any
// work yet.
func newSession(ctx context.Context, o Options) (*Session, error) {
	text := o.Text
	var err error
	if text == nil {
		if text, err = readProblem(ctx, o.File); err != nil {
			return nil, err
		}
	}
	s := &Session{options: o, problemPath: o.File, ctx: ctx, hub: newHub(), workByStep: make(map[int]*stepWork), allowedCommands: make(map[string]bool), originalText: string(text), bodySemaphore: semaphore.NewWeighted(maxConcurrentRequestBytes), bodyTimeout: bodyTimeout, waitTimes: defaultWaitTimes}
	if o.waitTimes != nil {
		s.waitTimes = *o.waitTimes
	}
	if s.problemDir, err = filepath.EvalSymlinks(filepath.Dir(o.File)); err != nil {
		return nil, err
	}
	if s.problemDir, err = filepath.Abs(s.problemDir); err != nil {
		return nil, err
	}
	p, err := s.loadProblem(ctx, text, compile.Options{})
	if err == nil {
		err = p.Close()
	}
	// The page shows these errors, with fixes.
	conflict, consent := (*compile.ConflictError)(nil), (*compile.ConsentError)(nil)
	if err != nil && !errors.As(err, &conflict) && !errors.As(err, &consent) {
		return nil, err
	}
	if s.history, err = openHistory(o.File, text); err != nil {
		return nil, err
	}
	if s.scratchDir, err = newScratch(); err != nil {
		return nil, err
	}
	return s, nil
}

// readProblem reads a problem file. The size of the file is limited.
func readProblem(ctx context.Context, path string) ([]byte, error) {
	files := yaml.Files{Dir: filepath.Dir(path), OnRead: func(string, []byte, int64) {}}
	return files.ReadFile(ctx, path, yaml.MaxBytes)
}

// loadProblem loads a problem from the text of a problem file. It does not run a program of the
// problem until a person has allowed the command. Before that, the error is a
// [compile.ConsentError].
func (s *Session) loadProblem(ctx context.Context, text []byte, o compile.Options) (*compile.Problem, error) {
	ctx, o = s.loadOptions(ctx, text, o)
	return compile.Load(ctx, s.problemPath, o)
}

// loadOptions completes the context and the options for loading a problem. The result restricts the
// files and the programs that the problem may use.
func (s *Session) loadOptions(ctx context.Context, text []byte, o compile.Options) (context.Context, compile.Options) {
	o.Text, o.ModelCache, o.CacheCounts, o.Allow = text, &s.modelCache, true, s.checkReadable
	if string(text) == s.originalText {
		// The original text comes from the command line, so it may name files anywhere. The
		// page can name other files only inside the directory.
		o.Allow = s.allowNamedFile
	}
	return compile.AllowCommands(ctx, func(c *compile.Command) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return c.TrustError() == nil && s.allowedCommands[c.Key()]
	}), o
}

// allowNamedFile allows a problem to read a file and adds the file to allowedFiles.
func (s *Session) allowNamedFile(path string) error {
	if path, err := filepath.EvalSymlinks(path); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Contains(s.allowedFiles, path) {
			s.allowedFiles = append(s.allowedFiles, path)
		}
	}
	return nil
}

// checkReadable returns an error unless a problem may read the file at path. A problem may read
// files in its own directory and the files that the original text names.
func (s *Session) checkReadable(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // no file to read
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.allowedFiles, real) || real == s.problemDir || strings.HasPrefix(real, s.problemDir+string(filepath.Separator)) {
		return nil
	}
	return errors.New("the file is not in the problem's directory")
}

// maxKeptWorks is the maximum number of steps whose work is kept, so that a person can quickly go
// back to those steps.
const maxKeptWorks = 24

// startWork starts the work on the current step and cancels any other work. If the work on the step
// has already finished, startWork only publishes its results.
func (s *Session) startWork() {
	s.mu.Lock()
	before := s.activeWork
	w := s.workByStep[s.history.Current]
	done := w != nil && w.isSettled()
	if done {
		s.activeWork = w
	}
	s.mu.Unlock()
	if !done {
		s.restartWork()
		return
	}
	if before != nil && before != w {
		before.cancel()
	}
	s.noteError(w.republish())
}

// restartWork starts the work on the current step from the beginning, even if the work was already
// finished.
func (s *Session) restartWork() {
	s.mu.Lock()
	before := s.activeWork
	if before != nil {
		before.cancel()
	}
	if len(s.workByStep) >= maxKeptWorks {
		delete(s.workByStep, slices.Min(slices.Collect(maps.Keys(s.workByStep))))
	}
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.runningWork.Add(1)
	ctx, cancel := context.WithCancel(s.ctx)
	w := &stepWork{session: s, step: *s.history.currentStep(), previousWork: before, cancel: cancel, doneSignal: make(chan struct{})}
	s.activeWork, s.workByStep[w.step.ID], s.stepNotes = w, w, nil
	s.mu.Unlock()
	go func() {
		defer s.runningWork.Done()
		defer close(w.doneSignal)
		defer cancel()
		err := w.execute(ctx)
		w.previousWork = nil // release it, or each work would keep all earlier ones
		if err == nil || ctx.Err() != nil {
			return
		}
		w.mu.Lock()
		if w.pendingCommands = pendingCommandsOf(err); w.pendingCommands == nil {
			w.fault = err
		}
		w.mu.Unlock()
		s.noteError(s.publishState())
	}()
}

// end ends the session and all running work. It returns errStillRunning if the work does not stop
// in time.
func (s *Session) end() error {
	s.mu.Lock()
	s.ended = true
	for _, w := range s.workByStep {
		w.cancel()
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.runningWork.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(s.waitTimes.endTimeout):
		return errStillRunning
	}
	s.hub.close()
	return s.scratchDir.remove()
}

// errStillRunning is the error of [Session.end] if some work did not stop in time.
var errStillRunning = errors.New("what was being drawn did not end in time, and was left behind")

// closeAtExit is like [Session.end], but ignores work that is still running, because the program
// exits. No stored data depends on such work, and the next server removes its directory.
func (s *Session) closeAtExit() error {
	if err := s.end(); !errors.Is(err, errStillRunning) {
		return err
	}
	s.hub.close()
	return nil
}

// checkWritable returns an error unless the page may write a file. The page may replace files that
// a problem may read, and create files in directories where a problem may read files.
func (s *Session) checkWritable(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return s.checkReadable(path)
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return errors.New("there is no such directory")
	}
	return s.checkReadable(dir)
}

// currentStep returns the step that the page shows.
func (s *Session) currentStep() Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.history.currentStep()
}

// isCurrent reports whether w is the work on the current step.
func (s *Session) isCurrent(w *stepWork) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.activeWork == w
}

// updateAmountConverter sets the converter of amounts to that of problem p.
func (s *Session) updateAmountConverter(p *compile.Problem) {
	m := newAmountConverter(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.amountConverter = m
}

// currentAmountConverter returns the converter of amounts for the problem that was loaded last.
func (s *Session) currentAmountConverter() amountConverter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.amountConverter
}

// note stores a message for the user about the current step.
func (s *Session) note(message string) {
	s.mu.Lock()
	s.stepNotes = append(s.stepNotes, message)
	s.mu.Unlock()
}

// noteError stores the message of an error, unless it is nil.
func (s *Session) noteError(err error) {
	if err != nil {
		s.note(err.Error())
	}
}

// A PendingCommand is a program that the problem wants to run and that nobody has allowed yet.
type PendingCommand struct {
	Key   string   `json:"key"`   // key that the page sends to allow the command
	Lines []string `json:"lines"` // complete command, in lines to show

	refusalReason string // reason why the page cannot allow the command; empty if it can
}

// pendingCommandsOf returns the commands that a [compile.ConsentError] asks about. For any other
// error the result is nil.
func pendingCommandsOf(err error) (asks []PendingCommand) {
	if consent := (*compile.ConsentError)(nil); errors.As(err, &consent) {
		for _, c := range consent.Commands {
			if !slices.ContainsFunc(asks, func(a PendingCommand) bool { return a.Key == c.Key() }) {
				a := PendingCommand{Key: c.Key(), Lines: c.Lines()}
				if err := c.TrustError(); err != nil {
					a.refusalReason = err.Error()
				}
				asks = append(asks, a)
			}
		}
	}
	return asks
}

// allowCommand allows a command of the current step to run, and restarts the work on the step.
func (s *Session) allowCommand(key string) error {
	s.mu.Lock()
	w := s.activeWork
	s.mu.Unlock()
	w.mu.Lock()
	asked := slices.IndexFunc(w.pendingCommands, func(a PendingCommand) bool { return a.Key == key })
	partial := ""
	if asked >= 0 {
		partial = w.pendingCommands[asked].refusalReason
	}
	w.mu.Unlock()
	if partial != "" {
		return &inputerr.Error{Message: partial}
	}
	if asked < 0 {
		return &inputerr.Error{Message: "the problem does not ask for this command", Hint: "reload the page, which shows what it asks for"}
	}
	s.mu.Lock()
	s.allowedCommands[key] = true
	s.mu.Unlock()
	s.startWork()
	return nil
}

// applyChanges applies changes to the text of the current step and adds the result as a new step.
// The parameter words describes the changes. If the new problem is invalid, the work on the new
// step reports the error.
func (s *Session) applyChanges(words string, changes ...change.Change) error {
	s.mu.Lock()
	now := *s.history.currentStep()
	s.mu.Unlock()
	text, err := change.Apply(filepath.Base(s.problemPath), []byte(now.Text), changes...)
	if err != nil {
		return err
	}
	return s.addStep(now.ID, words, string(text))
}

// addStep adds a step with the given text of the problem file and makes it the current step. The
// parameter parent is the id of the step that was changed.
func (s *Session) addStep(parent int, words, text string) error {
	if len(text) > yaml.MaxBytes {
		return &inputerr.Error{Message: fmt.Sprintf("the problem has more than %d bytes", yaml.MaxBytes)}
	}
	err := s.changeHistory(func(h *history) error {
		before, err := h.findStep(parent)
		if err != nil {
			return err
		}
		if before.Text == text {
			return &inputerr.Error{Message: "this changes nothing", Hint: "the problem says so already"}
		}
		h.addStep(parent, words, text)
		return nil
	})
	if err != nil {
		return err
	}
	s.startWork()
	return s.publishState()
}

// changeHistory changes the history in memory and on disk. If the function change or writing fails,
// the history stays unchanged.
func (s *Session) changeHistory(change func(h *history) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.commit(change)
}

// goToStep makes the step with the given id the current step.
func (s *Session) goToStep(id int) error {
	err := s.changeHistory(func(h *history) error {
		h.Current = id
		_, err := h.findStep(id)
		return err
	})
	if err != nil {
		return err
	}
	s.startWork()
	return s.publishState()
}

// nameStep gives a name to the step with the given id.
func (s *Session) nameStep(id int, name string) error {
	const longest = 200
	if len(name) > longest {
		return &inputerr.Error{Message: "the name is too long", Hint: fmt.Sprintf("it has at most %d letters", longest)}
	}
	err := s.changeHistory(func(h *history) error {
		step, err := h.findStep(id)
		if err == nil {
			step.Name = name
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.publishState()
}

// saveAs writes the text of a step to a file in the directory of the problem, and returns the path.
// It replaces an existing file only if over is true.
func (s *Session) saveAs(id int, name string, over bool) (path string, err error) {
	s.mu.Lock()
	step, err := s.history.findStep(id)
	text := ""
	if err == nil {
		text = step.Text
	}
	s.mu.Unlock()
	if err != nil {
		return "", err
	}
	if !isProblemName(name) {
		return "", &inputerr.Error{Message: inputerr.Quote(name) + " is no name for a problem file here", Hint: "write a name that ends in .yaml, of letters, figures and signs that can be seen, without a path"}
	}
	path = filepath.Join(s.problemDir, name)
	if info, err := os.Lstat(path); err == nil && (!over || !info.Mode().IsRegular()) {
		return "", &inputerr.Error{Message: "there is a file " + inputerr.Quote(name) + " already", Hint: "take another name, or say that it is to be replaced"}
	}
	if over {
		return path, file.Replace(path, []byte(text))
	}
	return path, file.Create(path, []byte(text))
}

// isProblemName reports whether a problem file may have the given name. The name must have no path,
// not be hidden and not look like a flag. It must have the extension .yaml or .yml and only
// printable characters.
func isProblemName(name string) bool {
	ext := filepath.Ext(name)
	return name == filepath.Base(name) && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "-") &&
		(ext == ".yaml" || ext == ".yml") && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
