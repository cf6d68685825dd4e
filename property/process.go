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

// A process is one running instance of the program that scores recipes.
type process struct {
	cmd         *exec.Cmd
	in          io.WriteCloser
	out         io.ReadCloser
	answers     *bufio.Reader
	errorOutput *tail
	timeout     time.Duration
	once        sync.Once
	exit        error // error with which the instance ended, set by wait
}

// An endedError reports that a program ended before it answered.
type endedError struct{ cause error }

func (e *endedError) Error() string {
	if e.cause == nil {
		return "ended before it answered"
	}
	return fmt.Sprintf("ended before it answered (%v)", e.cause)
}

func (e *endedError) Unwrap() error { return e.cause }

// endTime is how long a program may run on after kir has closed its input. Then it is killed.
const endTime = time.Second

// startProcess starts the program at a path.
func startProcess(path string, o *ProgramOptions) (*process, error) {
	if o.Starting != nil {
		if err := o.Starting(); err != nil {
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
	cmd.WaitDelay = endTime // for child processes that still hold the output open
	ownGroup(cmd)
	q := &process{cmd: cmd, errorOutput: new(tail), timeout: o.Timeout}
	cmd.Stderr = q.errorOutput
	var err error
	if q.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if q.out, err = cmd.StdoutPipe(); err != nil {
		return nil, errors.Join(err, q.in.Close())
	}
	q.answers = bufio.NewReader(q.out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the program %s cannot be started: %w", inputerr.Quote(o.Command[0]), err)
	}
	return q, nil
}

// exchange writes one line of input and returns the line that the program answers. The answer is valid until the next
// call. After an error the process has ended.
func (q *process) exchange(request []byte, recipes int) ([]byte, error) {
	if q.answers.Buffered() > 0 {
		return nil, q.excessError()
	}
	late := make(chan struct{})
	timer := time.AfterFunc(q.timeout, func() {
		close(late)
		q.kill()
	})
	_, err := q.in.Write(request)
	var answer []byte
	if err == nil {
		// A score takes about 25 characters. The larger limit lets an error message quote a wrong answer.
		answer, err = readLine(q.answers, 64*recipes+4096)
	}
	if !timer.Stop() {
		<-late
		return nil, fmt.Errorf("did not answer %s in %v", inputerr.Count(recipes, "recipe"), q.timeout)
	}
	switch {
	case errors.Is(err, errLongLine):
		q.kill()
		return nil, fmt.Errorf("answered %s with a line of more than %d bytes, which begins %s", inputerr.Count(recipes, "recipe"), len(answer), inputerr.Quote(string(answer)))
	case err != nil:
		said := ""
		if len(answer) > 0 {
			said = fmt.Sprintf(" and had only said %s", inputerr.Quote(string(answer)))
		}
		q.in.Close()
		q.wait()
		ended := &endedError{q.exit}
		if said != "" {
			return nil, fmt.Errorf("%w%s", ended, said)
		}
		return nil, ended
	}
	return answer, nil
}

// excessError returns the error for a program that writes more than one answer per request.
func (q *process) excessError() error {
	n := q.answers.Buffered()
	rest, _ := q.answers.Peek(n)
	err := fmt.Errorf("said %s after its answer: it must answer a line with one line", inputerr.Quote(string(rest)))
	q.kill()
	return err
}

// errLongLine is returned for an answer that exceeds the permitted length.
var errLongLine = errors.New("a line is too long")

// readLine reads one line of at most the given number of bytes and strips its end. On an error it returns the bytes
// read so far, which can exceed the limit by at most one buffer.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			line = bytes.TrimRight(line, "\r\n")
		}
		switch {
		case len(line) > most:
			return line, errLongLine
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// stop closes the program's input and waits for its end. It kills the program after endTime.
func (q *process) stop() {
	q.in.Close()
	timer := time.AfterFunc(endTime, q.kill)
	// The rest of the output is read and discarded, because a program may block until someone reads.
	io.Copy(io.Discard, q.out)
	q.wait()
	timer.Stop()
}

// kill ends the program and its child processes at once.
func (q *process) kill() {
	killGroup(q.cmd)
	q.in.Close()
	q.out.Close()
	q.wait()
}

// wait waits until the program has ended. It does so once and keeps the result in exit.
func (q *process) wait() {
	q.once.Do(func() {
		// A program that closes its output but goes on running is killed after endTime.
		timer := time.AfterFunc(endTime, func() { killGroup(q.cmd) })
		q.exit = q.cmd.Wait()
		timer.Stop()
	})
}

// lastErrorLine returns the program's last line on standard error, for the end of a message.
func (q *process) lastErrorLine() string {
	if words := q.errorOutput.String(); words != "" {
		return "; the last it wrote on stderr is " + inputerr.Quote(words)
	}
	return ""
}

// A tail is a writer that keeps the latest bytes. [tail.String] returns the last line of them.
type tail struct {
	mu   sync.Mutex
	last []byte
}

// maxWords is how many bytes a tail keeps when its text has grown to four times as many.
const maxWords = 1 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if len(t.last) > 4*maxWords {
		t.last = append(t.last[:0], t.last[len(t.last)-maxWords:]...)
	}
	return len(p), nil
}

// String returns the last line that is not empty.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.last)
	if at := bytes.LastIndexByte(text, '\n'); at >= 0 {
		text = bytes.TrimSpace(text[at+1:])
	}
	return string(text)
}

// appendLogs appends the log of each score in the program's answer, which must hold one score for each recipe.
func appendLogs(dst []float64, answer []byte, recipes int) ([]float64, error) {
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

// quoteJSON returns text as JSON.
func quoteJSON(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // encoding a string into a buffer cannot fail
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
