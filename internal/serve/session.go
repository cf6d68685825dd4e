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
	Text []byte // text of the problem file, which is used instead of the contents of File; nil: the contents are used

	// TryKernels says whether short trial runs choose the kernel of the Markov chains, unless the
	// problem names a kernel.
	TryKernels bool
	Run        func(ctx context.Context, p *compile.Problem, dir string, progress func(run.Progress)) (*report.Model, error) // Run makes the run of a problem in the directory dir in the same way as the command line. It calls progress from time to time.

	Version string // version of the program, which the batches of a campaign store

	Address string   // address to listen at, as host:port
	Hosts   []string // allowed host names besides the names of this machine

	TLSCert string // path of the PEM file with the TLS certificate; empty: no TLS
	TLSKey  string // path of the PEM file with the private key of the certificate

	// OnReady is called when the page can be opened. The parameter address is an address that opens
	// the page in one browser tab. The parameter door is the path of a file that redirects a browser
	// to the page.
	OnReady      func(address, door string)
	OnNewAddress func(address string) // OnNewAddress is called each time an address was used, with the next address that opens the page. It may be nil.

	modelCache *compile.ModelCache // models that were learnt before, as on the setup page; nil: none

	waitTimes *waitTimes // waiting times for tests; nil: defaultWaitTimes
}

// A waitTimes has the waiting times of a session. Tests use other waiting times than the program.
type waitTimes struct {
	pauseBeforeRun time.Duration // minimum time from the start of the work on a step to the full run, so that quick changes start no runs
	endTimeout     time.Duration // maximum time to wait at the end for work that is still running, such as a program of the problem
	relearnDelay   time.Duration // time after the last new result until the page learns from the results
}

var defaultWaitTimes = waitTimes{pauseBeforeRun: time.Second, endTimeout: time.Second, relearnDelay: 1200 * time.Millisecond}

// A Session is a problem that the user changes step by step on the page. It has the history of
// steps and the work on the current step.
type Session struct {
	options           Options
	problemPath       string              // path of the problem file
	problemDir        string              // directory of the problem file, with symbolic links resolved
	originalText      string              // text of the problem file when serving began
	allowedFiles      []string            // paths of the files that originalText names, with symbolic links resolved; the problem may read these files
	scratchDir        *scratchDir         // temporary directory for runs
	bodyByteSemaphore *semaphore.Weighted // limits the number of bytes of request bodies in memory
	bodyTimeout       time.Duration       // maximum time that the body of a request may take to arrive
	waitTimes         waitTimes
	hub               *hub
	modelCache        *compile.ModelCache
	palette           palette
	campaignState     campaignState // state of the campaign
	processors        processorGate
	shortlistVersion  atomic.Int64 // number of the shortlist that was stored last

	mu              sync.Mutex
	ctx             context.Context
	history         *history          // tree of all steps
	workByStep      map[int]*stepWork // maps the id of a step to the latest work on the step; only the newest steps are kept
	runningWork     sync.WaitGroup    // counts the goroutines that are working
	ended           bool              // whether the session has ended, so that no work may start any more
	currentStepWork *stepWork         // work on the current step
	stepNotes       []string          // messages for the user about the current step
	allowedCommands map[string]bool   // set of keys of the programs that the user has allowed to run
	amountConverter amountConverter   // converter of amounts for the problem that was loaded last
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
	s := &Session{options: o, problemPath: o.File, ctx: ctx, hub: newHub(), workByStep: make(map[int]*stepWork), allowedCommands: make(map[string]bool), originalText: string(text), bodyByteSemaphore: semaphore.NewWeighted(maxConcurrentRequestBytes), bodyTimeout: bodyTimeout, waitTimes: defaultWaitTimes, modelCache: o.modelCache}
	if s.modelCache == nil {
		s.modelCache = new(compile.ModelCache)
	}
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

// readProblem reads a problem file. It limits the size of the file.
func readProblem(ctx context.Context, path string) ([]byte, error) {
	files := yaml.Files{Dir: filepath.Dir(path), OnRead: func(string, []byte, int64) {}}
	return files.ReadFile(ctx, path, yaml.MaxBytes)
}

// loadProblem loads a problem from the text of a problem file. If the problem wants to run a
// program that the user has not allowed yet, the error is a [compile.ConsentError].
func (s *Session) loadProblem(ctx context.Context, text []byte, o compile.Options) (*compile.Problem, error) {
	ctx, o = s.restrictedLoadOptions(ctx, text, o)
	return compile.Load(ctx, s.problemPath, o)
}

// restrictedLoadOptions returns the context and the options for loading a problem. They restrict the files
// and the programs that the problem may use.
func (s *Session) restrictedLoadOptions(ctx context.Context, text []byte, o compile.Options) (context.Context, compile.Options) {
	o.Text, o.ModelCache, o.CacheCounts, o.Allow = text, s.modelCache, true, s.checkReadable
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

// allowNamedFile adds a file to allowedFiles, so that a problem may read it.
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

// checkReadable returns an error unless a problem may read the file at path. A problem may read the
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

// maxKeptStepWorks is the maximum number of steps whose work is kept. The user can quickly go back to
// these steps.
const maxKeptStepWorks = 24

// startWork starts the work on the current step and cancels any other work. If the work on the step
// has already finished, startWork only publishes the results.
func (s *Session) startWork() {
	s.mu.Lock()
	before := s.currentStepWork
	w := s.workByStep[s.history.Current]
	done := w != nil && w.isSettled()
	if done {
		s.currentStepWork = w
	}
	s.mu.Unlock()
	if !done {
		s.restartWork()
		return
	}
	if before != nil && before != w {
		before.cancel()
	}
	s.addErrorNote(w.republish())
}

// restartWork starts the work on the current step from the beginning, even if it was already
// finished. It cancels any other work.
func (s *Session) restartWork() {
	s.mu.Lock()
	before := s.currentStepWork
	if before != nil {
		before.cancel()
	}
	if len(s.workByStep) >= maxKeptStepWorks {
		delete(s.workByStep, slices.Min(slices.Collect(maps.Keys(s.workByStep))))
	}
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.runningWork.Add(1)
	ctx, cancel := context.WithCancel(s.ctx)
	w := &stepWork{session: s, step: *s.history.currentStep(), previousWork: before, cancel: cancel, doneSignal: make(chan struct{})}
	s.currentStepWork, s.workByStep[w.step.ID], s.stepNotes = w, w, nil
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
		s.addErrorNote(s.publishState())
	}()
}

// endAllWork ends the session and all running work. It returns [errStillRunning] if the work does
// not stop within waitTimes.endTimeout.
func (s *Session) endAllWork() error {
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

// errStillRunning is the error of [Session.endAllWork] if some work did not stop in time.
var errStillRunning = errors.New("what was being drawn did not end in time, and was left behind")

// closeAtExit is like [Session.endAllWork], but returns no error for work that is still running,
// because the program exits. No stored data depends on such work, and the next server removes its
// directory.
func (s *Session) closeAtExit() error {
	if err := s.endAllWork(); !errors.Is(err, errStillRunning) {
		return err
	}
	s.hub.close()
	return nil
}

// checkWritable returns an error unless the page may write the file at path. The page may replace
// any file that a problem may read. It may create a file in any directory where a problem may read
// files.
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

// isCurrentWork reports whether w is the work on the current step.
func (s *Session) isCurrentWork(w *stepWork) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.currentStepWork == w
}

// updateAmountConverter sets the amountConverter of the session to the converter for problem p.
func (s *Session) updateAmountConverter(p *compile.Problem) {
	m := newAmountConverter(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.amountConverter = m
}

// currentAmountConverter returns the amountConverter of the session.
func (s *Session) currentAmountConverter() amountConverter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.amountConverter
}

// addNote stores a message about the current step that the page shows.
func (s *Session) addNote(message string) {
	s.mu.Lock()
	s.stepNotes = append(s.stepNotes, message)
	s.mu.Unlock()
}

// addErrorNote stores the message of err for the page. It does nothing if err is nil.
func (s *Session) addErrorNote(err error) {
	if err != nil {
		s.addNote(err.Error())
	}
}

// A PendingCommand is a program that the problem wants to run and that the user has not allowed
// yet.
type PendingCommand struct {
	Key   string   `json:"key"`   // key that the page sends to allow the command
	Lines []string `json:"lines"` // the complete command, split into lines for the page

	refusalReason string // reason why the user cannot allow the command on the page; empty if the user can
}

// pendingCommandsOf returns the commands that a [compile.ConsentError] asks to run. For any other
// error the result is nil.
func pendingCommandsOf(err error) (commands []PendingCommand) {
	if consent := (*compile.ConsentError)(nil); errors.As(err, &consent) {
		for _, c := range consent.Commands {
			if !slices.ContainsFunc(commands, func(a PendingCommand) bool { return a.Key == c.Key() }) {
				a := PendingCommand{Key: c.Key(), Lines: c.Lines()}
				if err := c.TrustError(); err != nil {
					a.refusalReason = err.Error()
				}
				commands = append(commands, a)
			}
		}
	}
	return commands
}

// allowCommand allows a command of the current step to run and restarts the work on the step. The
// parameter key identifies the command.
func (s *Session) allowCommand(key string) error {
	s.mu.Lock()
	w := s.currentStepWork
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

// applyChanges applies changes to the text of the current step and adds the new text as a new step
// with the given description. If the new problem is invalid, the work on the new step reports the
// error.
func (s *Session) applyChanges(description string, changes ...change.Change) error {
	s.mu.Lock()
	now := *s.history.currentStep()
	s.mu.Unlock()
	text, err := change.Apply(filepath.Base(s.problemPath), []byte(now.Text), changes...)
	if err != nil {
		return err
	}
	return s.addStep(now.ID, description, string(text))
}

// addStep adds a step with the given text of the problem file and makes it the current step. The
// parameter parent is the id of the step from which the new step was made.
func (s *Session) addStep(parent int, description, text string) error {
	if len(text) > yaml.MaxBytes {
		return &inputerr.Error{Message: fmt.Sprintf("the problem has more than %d bytes", yaml.MaxBytes)}
	}
	err := s.changeHistory(func(h *history) error {
		before, err := h.findStep(parent)
		if err != nil {
			return err
		}
		if before.Text == text {
			return &inputerr.Error{Message: "this changes nothing", Hint: "the problem already has this setting"}
		}
		h.addStep(parent, description, text)
		return nil
	})
	if err != nil {
		return err
	}
	s.startWork()
	return s.publishState()
}

// changeHistory calls changeFunc with the history and saves the changed history to its file. If
// changeFunc or saving fails, the history stays unchanged.
func (s *Session) changeHistory(changeFunc func(h *history) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.changeAndSave(changeFunc)
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
// It replaces an existing file only if overwrite is true.
func (s *Session) saveAs(stepID int, name string, overwrite bool) (path string, err error) {
	s.mu.Lock()
	step, err := s.history.findStep(stepID)
	text := ""
	if err == nil {
		text = step.Text
	}
	s.mu.Unlock()
	if err != nil {
		return "", err
	}
	if !isProblemName(name) {
		return "", &inputerr.Error{Message: inputerr.Quote(name) + " is no name for a problem file here", Hint: "write a name that ends in .yaml, without a directory or invisible signs"}
	}
	path = filepath.Join(s.problemDir, name)
	if info, err := os.Lstat(path); err == nil && (!overwrite || !info.Mode().IsRegular()) {
		return "", &inputerr.Error{Message: "there is a file " + inputerr.Quote(name) + " already", Hint: "take another name, or tick that the file is replaced"}
	}
	if overwrite {
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
