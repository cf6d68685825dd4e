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

// Options say how to serve a problem.
type Options struct {
	File string // the problem file
	Text []byte // text of the problem, if it differs from the file, as for a run; else nil

	// TryKernels lets trials choose the kernel of a problem that leaves it open. Run makes the run of a
	// problem in a directory. Both do the same as the command line.
	TryKernels bool
	Run        func(ctx context.Context, p *compile.Problem, dir string, progress func(run.Progress)) (*report.Model, error)

	Version string // of the program; batches of a campaign store it

	Address string   // to listen at, host:port
	Hosts   []string // allowed host names besides those of this machine

	TLSCert, TLSKey string // PEM files of a certificate and its key, for TLS; "" for no TLS

	// OnReady receives an address that opens the page in one tab, and a file that redirects a
	// browser there. OnNewAddress, unless nil, receives the next address each time one was
	// used.
	OnReady      func(address, door string)
	OnNewAddress func(address string)

	waits *waits // other ones than are usual, which tests have no time for
}

// waits are how long a session waits.
type waits struct {
	settleTime time.Duration // how long a step is looked at before the run is begun that the command line would make
	end        time.Duration // how long the end waits for what is being done: a program that does not answer may take minutes
	relearn    time.Duration // how long no result may come before the page learns from those that came
}

var usualWaits = waits{settleTime: time.Second, end: time.Second, relearn: 1200 * time.Millisecond}

// A Session is a problem that a person steers: its steps, and what is being done
// for the one that is looked at.
type Session struct {
	options      Options
	file         string
	dir          string              // directory of the problem file, with links resolved
	originalText string              // text of the problem when serving began
	outsideFiles []string            // files that originalText names, with links resolved
	scratch      *scratch            // for runs
	bodies       *semaphore.Weighted // of requests
	bodyTime     time.Duration       // how long one may take to arrive
	waits        waits
	hub          *hub
	modelCache   compile.ModelCache
	palette      palette
	board        campaignBoard // of the campaign
	listVersion  atomic.Int64

	mu         sync.Mutex
	ctx        context.Context
	history    *history
	workByStep map[int]*work // by id: the last work on each of the latest visited steps
	running    sync.WaitGroup
	ended      bool // no more work may start
	work       *work
	notes      []string
	allowed    map[string]bool // keys of allowed commands
	measure    measure         // of the problem that was loaded last
}

// newSession starts the session of a problem.
func newSession(ctx context.Context, o Options) (*Session, error) {
	text := o.Text
	var err error
	if text == nil {
		if text, err = readProblem(ctx, o.File); err != nil {
			return nil, err
		}
	}
	s := &Session{options: o, file: o.File, ctx: ctx, hub: newHub(), workByStep: make(map[int]*work), allowed: make(map[string]bool), originalText: string(text), bodies: semaphore.NewWeighted(mostRequests), bodyTime: bodyTime, waits: usualWaits}
	if o.waits != nil {
		s.waits = *o.waits
	}
	if s.dir, err = filepath.EvalSymlinks(filepath.Dir(o.File)); err != nil {
		return nil, err
	}
	if s.dir, err = filepath.Abs(s.dir); err != nil {
		return nil, err
	}
	p, err := s.load(ctx, text, compile.Options{})
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
	if s.scratch, err = newScratch(); err != nil {
		return nil, err
	}
	return s, nil
}

// readProblem reads a problem file of limited size.
func readProblem(ctx context.Context, path string) ([]byte, error) {
	files := yaml.Files{Dir: filepath.Dir(path), OnRead: func(string, []byte, int64) {}}
	return files.ReadFile(ctx, path, yaml.MaxBytes)
}

// load loads a problem. It never runs a program of the problem before a person has allowed the
// command. Until then the error is a [compile.ConsentError].
func (s *Session) load(ctx context.Context, text []byte, o compile.Options) (*compile.Problem, error) {
	ctx, o = s.loadOptions(ctx, text, o)
	return compile.Load(ctx, s.file, o)
}

// loadOptions completes the options for loading a problem.
func (s *Session) loadOptions(ctx context.Context, text []byte, o compile.Options) (context.Context, compile.Options) {
	o.Text, o.ModelCache, o.Cache, o.Allow = text, &s.modelCache, true, s.checkAllowed
	if string(text) == s.originalText {
		// The original text comes from the command line, so it may name files anywhere. The
		// page can name other files only inside the directory.
		o.Allow = s.allowNamedFile
	}
	return compile.AllowCommands(ctx, func(c *compile.Command) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return c.TrustError() == nil && s.allowed[c.Key()]
	}), o
}

// allowNamedFile allows a file and remembers it in outsideFiles.
func (s *Session) allowNamedFile(path string) error {
	if path, err := filepath.EvalSymlinks(path); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Contains(s.outsideFiles, path) {
			s.outsideFiles = append(s.outsideFiles, path)
		}
	}
	return nil
}

// checkAllowed returns an error unless a problem may name a file. It may name files in its
// directory, and those that the original text names.
func (s *Session) checkAllowed(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // no file to read
	}
	if real, err = filepath.Abs(real); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.outsideFiles, real) || real == s.dir || strings.HasPrefix(real, s.dir+string(filepath.Separator)) {
		return nil
	}
	return errors.New("the file is not in the problem's directory")
}

// mostWorks is the number of steps whose draws are kept, so that going back to them is quick.
const mostWorks = 24

// startWork starts the work on the current step and cancels any other work. It reuses the kept
// work of a settled step.
func (s *Session) startWork() {
	s.mu.Lock()
	before := s.work
	w := s.workByStep[s.history.Current]
	done := w != nil && w.isSettled()
	if done {
		s.work = w
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

// restartWork starts the work on the current step anew, even if the step is settled.
func (s *Session) restartWork() {
	s.mu.Lock()
	before := s.work
	if before != nil {
		before.cancel()
	}
	if len(s.workByStep) >= mostWorks {
		delete(s.workByStep, slices.Min(slices.Collect(maps.Keys(s.workByStep))))
	}
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.running.Add(1)
	ctx, cancel := context.WithCancel(s.ctx)
	w := &work{session: s, step: *s.history.current(), previous: before, cancel: cancel, done: make(chan struct{})}
	s.work, s.workByStep[w.step.ID], s.notes = w, w, nil
	s.mu.Unlock()
	go func() {
		defer s.running.Done()
		defer close(w.done)
		defer cancel()
		err := w.execute(ctx)
		w.previous = nil // release it, or each work would keep all earlier ones
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

// end ends all that is being done.
func (s *Session) end() error {
	s.mu.Lock()
	s.ended = true
	for _, w := range s.workByStep {
		w.cancel()
	}
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(s.waits.end):
		return errStillRunning
	}
	s.hub.close()
	return s.scratch.end()
}

// errStillRunning says that end left running work behind.
var errStillRunning = errors.New("what was being drawn did not end in time, and was left behind")

// closeAtExit is [Session.end] for a program that exits. It ignores work left behind: no
// stored data depends on it, and the next server removes its directory.
func (s *Session) closeAtExit() error {
	if err := s.end(); !errors.Is(err, errStillRunning) {
		return err
	}
	s.hub.close()
	return nil
}

// mayWrite returns an error unless the page may write a file. The page may write files that it
// may read, and create files in a directory that it may use.
func (s *Session) mayWrite(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return s.checkAllowed(path)
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return errors.New("there is no such directory")
	}
	return s.checkAllowed(dir)
}

// currentStep returns the step that the page shows.
func (s *Session) currentStep() Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.history.current()
}

func (s *Session) isCurrent(w *work) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.work == w
}

// updateMeasure takes the measure of amounts from a loaded problem.
func (s *Session) updateMeasure(p *compile.Problem) {
	m := newMeasure(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.measure = m
}

// currentMeasure returns the current measure of amounts.
func (s *Session) currentMeasure() measure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.measure
}

// note stores a message for the user about the current step.
func (s *Session) note(message string) {
	s.mu.Lock()
	s.notes = append(s.notes, message)
	s.mu.Unlock()
}

// noteError stores the message of an error, unless it is nil.
func (s *Session) noteError(err error) {
	if err != nil {
		s.note(err.Error())
	}
}

// A PendingCommand is a program of the problem that nobody has allowed yet.
type PendingCommand struct {
	Key   string   `json:"key"`   // sent to allow the command
	Lines []string `json:"lines"` // the complete command

	partial string // reason why the page cannot allow it, or empty
}

// pendingCommandsOf returns the commands of a [compile.ConsentError]; nil for other errors.
func pendingCommandsOf(err error) (asks []PendingCommand) {
	if consent := (*compile.ConsentError)(nil); errors.As(err, &consent) {
		for _, c := range consent.Commands {
			if !slices.ContainsFunc(asks, func(a PendingCommand) bool { return a.Key == c.Key() }) {
				a := PendingCommand{Key: c.Key(), Lines: c.Lines()}
				if err := c.TrustError(); err != nil {
					a.partial = err.Error()
				}
				asks = append(asks, a)
			}
		}
	}
	return asks
}

// allowCommand allows a command of the current step and restarts the work.
func (s *Session) allowCommand(key string) error {
	s.mu.Lock()
	w := s.work
	s.mu.Unlock()
	w.mu.Lock()
	asked := slices.IndexFunc(w.pendingCommands, func(a PendingCommand) bool { return a.Key == key })
	partial := ""
	if asked >= 0 {
		partial = w.pendingCommands[asked].partial
	}
	w.mu.Unlock()
	if partial != "" {
		return &inputerr.Error{Message: partial}
	}
	if asked < 0 {
		return &inputerr.Error{Message: "the problem does not ask for this command", Hint: "reload the page, which shows what it asks for"}
	}
	s.mu.Lock()
	s.allowed[key] = true
	s.mu.Unlock()
	s.startWork()
	return nil
}

// change applies changes to the current step's text and makes a new step of it. The work on
// the new step reports changes that lead to an invalid problem.
func (s *Session) change(words string, changes ...change.Change) error {
	s.mu.Lock()
	now := *s.history.current()
	s.mu.Unlock()
	text, err := change.Apply(filepath.Base(s.file), []byte(now.Text), changes...)
	if err != nil {
		return err
	}
	return s.addStep(now.ID, words, string(text))
}

// addStep adds a step with a text.
func (s *Session) addStep(parent int, words, text string) error {
	if len(text) > yaml.MaxBytes {
		return &inputerr.Error{Message: fmt.Sprintf("the problem has more than %d bytes", yaml.MaxBytes)}
	}
	err := s.changeHistory(func(h *history) error {
		before, err := h.step(parent)
		if err != nil {
			return err
		}
		if before.Text == text {
			return &inputerr.Error{Message: "this changes nothing", Hint: "the problem says so already"}
		}
		h.add(parent, words, text)
		return nil
	})
	if err != nil {
		return err
	}
	s.startWork()
	return s.publishState()
}

// changeHistory changes the history both in memory and on disk, or not at all.
func (s *Session) changeHistory(change func(h *history) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.commit(change)
}

// goToStep makes a step the current one.
func (s *Session) goToStep(id int) error {
	err := s.changeHistory(func(h *history) error {
		h.Current = id
		_, err := h.step(id)
		return err
	})
	if err != nil {
		return err
	}
	s.startWork()
	return s.publishState()
}

// nameStep names a step.
func (s *Session) nameStep(id int, name string) error {
	const longest = 200
	if len(name) > longest {
		return &inputerr.Error{Message: "the name is too long", Hint: fmt.Sprintf("it has at most %d letters", longest)}
	}
	err := s.changeHistory(func(h *history) error {
		step, err := h.step(id)
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

// saveAs writes a step's problem into a file beside the problem's own. It replaces an existing
// file only with over.
func (s *Session) saveAs(id int, name string, over bool) (path string, err error) {
	s.mu.Lock()
	step, err := s.history.step(id)
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
	path = filepath.Join(s.dir, name)
	if info, err := os.Lstat(path); err == nil && (!over || !info.Mode().IsRegular()) {
		return "", &inputerr.Error{Message: "there is a file " + inputerr.Quote(name) + " already", Hint: "take another name, or say that it is to be replaced"}
	}
	if over {
		return path, file.Replace(path, []byte(text))
	}
	return path, file.Create(path, []byte(text))
}

// isProblemName reports whether a problem file may have a name. The name must have no path,
// not be hidden, and not look like a flag. It must have no invisible characters or control
// characters of terminals.
func isProblemName(name string) bool {
	ext := filepath.Ext(name)
	return name == filepath.Base(name) && !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "-") &&
		(ext == ".yaml" || ext == ".yml") && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
