package property

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"kir/internal/inputerr"
	"kir/internal/portable"
)

// A programProcess is one running instance of the external program that scores recipes; see [Program].
type programProcess struct {
	cmd          *exec.Cmd
	stdin        io.WriteCloser
	stdout       io.ReadCloser
	answerReader *bufio.Reader
	stderrTail   *tailWriter
	timeout      time.Duration
	waitOnce     sync.Once
	exitError    error // error with which the instance ended, set by wait
}

// A processEndedError reports that the external program ended before it answered.
type processEndedError struct{ cause error }

func (e *processEndedError) Error() string {
	if e.cause == nil {
		return "ended before it answered"
	}
	return fmt.Sprintf("ended before it answered (%v)", e.cause)
}

func (e *processEndedError) Unwrap() error { return e.cause }

// exitGracePeriod is how long the external program may run on after kir has closed its standard input. Then kir
// kills it.
const exitGracePeriod = time.Second

// startProcess starts the external program whose executable has the given path.
func startProcess(path string, o *ProgramOptions) (*programProcess, error) {
	if o.BeforeStart != nil {
		if err := o.BeforeStart(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(path, o.Command[1:]...)
	cmd.Dir = o.Dir
	// The variable stops Python from writing cache files beside a script. The user consented only to the files that
	// were there.
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "KIR_TOTAL="+strconv.Itoa(o.Total))
	// Long lists of names are left out: Linux limits a variable to 128 KiB, and all variables together.
	if names, err := json.Marshal(o.Ingredients); err == nil && len(names) <= 1<<15 {
		cmd.Env = append(cmd.Env, "KIR_INGREDIENTS="+string(names))
	}
	cmd.WaitDelay = exitGracePeriod // for child processes that still hold the output open
	setOwnGroup(cmd)
	q := &programProcess{cmd: cmd, stderrTail: new(tailWriter), timeout: o.Timeout}
	cmd.Stderr = q.stderrTail
	var err error
	if q.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if q.stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, errors.Join(err, q.stdin.Close())
	}
	q.answerReader = bufio.NewReader(q.stdout)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the program %s cannot be started: %w", inputerr.Quote(o.Command[0]), err)
	}
	return q, nil
}

// exchange writes one line to the external program and returns the line that the program answers. The answer is
// valid until the next call. After an error the process has ended.
func (q *programProcess) exchange(requestLine []byte, recipes int) ([]byte, error) {
	if q.answerReader.Buffered() > 0 {
		return nil, q.extraOutputError()
	}
	late := make(chan struct{})
	timer := time.AfterFunc(q.timeout, func() {
		close(late)
		q.kill()
	})
	_, err := q.stdin.Write(requestLine)
	var answer []byte
	if err == nil {
		// A score takes about 25 characters. The larger limit lets an error message quote a wrong answer.
		answer, err = readLine(q.answerReader, 64*recipes+4096)
	}
	if !timer.Stop() {
		<-late
		return nil, fmt.Errorf("did not answer %s in %v", inputerr.Count(recipes, "recipe"), q.timeout)
	}
	switch {
	case errors.Is(err, errLineTooLong):
		q.kill()
		return nil, fmt.Errorf("answered %s with a line of more than %d bytes, which begins %s", inputerr.Count(recipes, "recipe"), len(answer), inputerr.Quote(string(answer)))
	case err != nil:
		said := ""
		if len(answer) > 0 {
			said = fmt.Sprintf(" and had only said %s", inputerr.Quote(string(answer)))
		}
		q.stdin.Close()
		q.wait()
		ended := &processEndedError{q.exitError}
		if said != "" {
			return nil, fmt.Errorf("%w%s", ended, said)
		}
		return nil, ended
	}
	return answer, nil
}

// extraOutputError kills the external program, which has written more than one answer to a request. It returns
// the error for this fault.
func (q *programProcess) extraOutputError() error {
	n := q.answerReader.Buffered()
	rest, _ := q.answerReader.Peek(n)
	err := fmt.Errorf("said %s after its answer: it must answer a line with one line", inputerr.Quote(string(rest)))
	q.kill()
	return err
}

// errLineTooLong is returned for an answer of an external program that exceeds the permitted length.
var errLineTooLong = errors.New("a line is too long")

// readLine reads one line of at most maxBytes bytes and removes the line end. With an error it returns the
// bytes that were read before. These can exceed maxBytes by at most one buffer.
func readLine(r *bufio.Reader, maxBytes int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			line = bytes.TrimRight(line, "\r\n")
		}
		switch {
		case len(line) > maxBytes:
			return line, errLineTooLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// stop closes the standard input of the external program and waits until the program has ended. It kills a
// program that has not ended after [exitGracePeriod].
func (q *programProcess) stop() {
	q.stdin.Close()
	timer := time.AfterFunc(exitGracePeriod, q.kill)
	// The rest of the output is read and discarded, because a program may block until someone reads.
	io.Copy(io.Discard, q.stdout)
	q.wait()
	timer.Stop()
}

// kill ends the external program and its child processes at once.
func (q *programProcess) kill() {
	killGroup(q.cmd)
	q.stdin.Close()
	q.stdout.Close()
	q.wait()
}

// wait waits until the external program has ended, and keeps its error in exitError. All calls return only
// after the program has ended.
func (q *programProcess) wait() {
	q.waitOnce.Do(func() {
		// A program that closes its output but goes on running is killed after exitGracePeriod.
		timer := time.AfterFunc(exitGracePeriod, func() { killGroup(q.cmd) })
		q.exitError = q.cmd.Wait()
		timer.Stop()
	})
}

// lastErrorLine returns the end of an error message: a clause that quotes the last line that the external
// program wrote on standard error. Without such a line the clause is empty.
func (q *programProcess) lastErrorLine() string {
	if words := q.stderrTail.String(); words != "" {
		return "; the last it wrote on stderr is " + inputerr.Quote(words)
	}
	return ""
}

// A tailWriter is a writer that keeps only the latest bytes written. [tailWriter.String] returns their last
// line.
type tailWriter struct {
	mu          sync.Mutex
	latestBytes []byte
}

// tailBytes is the number of latest bytes that a [tailWriter] always keeps. When its text exceeds 4·tailBytes,
// it drops all earlier bytes.
const tailBytes = 1 << 10

func (t *tailWriter) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latestBytes = append(t.latestBytes, p...)
	if len(t.latestBytes) > 4*tailBytes {
		t.latestBytes = append(t.latestBytes[:0], t.latestBytes[len(t.latestBytes)-tailBytes:]...)
	}
	return len(p), nil
}

// String returns the last line written that is not empty.
func (t *tailWriter) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.latestBytes)
	if at := bytes.LastIndexByte(text, '\n'); at >= 0 {
		text = bytes.TrimSpace(text[at+1:])
	}
	return string(text)
}

// appendAnswerLogs appends to dst the log of each score in an answer of the external program. The answer must
// be a JSON array with one score for each of the recipes.
func appendAnswerLogs(dst []float64, answer []byte, recipes int) ([]float64, error) {
	var scores []*float64 // pointers distinguish null, which is not a valid score, from 0
	if err := json.Unmarshal(answer, &scores); err != nil {
		return dst, fmt.Errorf("this is not a JSON array of numbers (%w); it must have %d, finite and at least 0", err, recipes)
	}
	if len(scores) != recipes {
		return dst, fmt.Errorf("it has %s for %s", inputerr.Count(len(scores), "score"), inputerr.Count(recipes, "recipe"))
	}
	for k, score := range scores {
		if score == nil || *score < 0 {
			what := "null"
			if score != nil {
				what = strconv.FormatFloat(*score, 'g', -1, 64)
			}
			return dst, fmt.Errorf("score %d of %d is %s: a score is a finite number of at least 0", k+1, recipes, what)
		}
		dst = append(dst, portable.Log(*score))
	}
	return dst, nil
}

// quoteJSON returns text as a JSON string.
func quoteJSON(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // encoding a string into a buffer cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
