package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A measured is what a run took and what came of it.
type measured struct {
	name       string
	processor  time.Duration // of the whole run
	first      time.Duration // of processor time, when the first recipe was shown; 0: none before the end
	memory     int64         // the most that was resident, bytes
	draws      int
	worth      int // independent draws of the figure that mixes slowest
	stop       string
	grade      string
	suggestion int
	score      float64 // of the first suggestion
}

const header = `| problem | first recipe, s of CPU | settled, s of CPU | half of it | memory, MB | draws | independent | stop | grade | suggestions | best score |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- | ---: | ---: |
`

func (m *measured) String() string {
	first := "at the end"
	if m.first > 0 {
		first = fmt.Sprintf("%.1f", m.first.Seconds())
	}
	return fmt.Sprintf("| %s | %s | %.1f | %.1f | %d | %d | %d | %s | %s | %d | %.4g |\n", m.name, first, m.processor.Seconds(), m.processor.Seconds()/2,
		m.memory>>20, m.draws, m.worth, m.stop, m.grade, m.suggestion, m.score)
}

// measure samples a problem into a directory.
func measure(program, file, dir string) (*measured, error) {
	m := &measured{name: filepath.Base(filepath.Dir(file))}
	c := exec.Command(program, "sample", file, "-o", dir)
	messages, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	var said bytes.Buffer
	lines := bufio.NewScanner(messages)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		said.Write(lines.Bytes())
		said.WriteByte('\n')
		if m.first == 0 && strings.Contains(lines.Text(), "est so far") {
			if m.first, err = processorTime(c.Process.Pid); err != nil {
				return nil, err
			}
		}
	}
	if err := c.Wait(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, &said)
	}
	m.processor = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	if use, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		m.memory = use.Maxrss << 10
	}
	return m, m.read(filepath.Join(dir, "summary.json"))
}

// independent finds how many draws a run says that its figures are worth.
var independent = regexp.MustCompile(`worth about ([0-9,]+) independent`)

// read takes what a run says of itself.
func (m *measured) read(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var summary struct {
		Grade string `json:"grade"`
		Draws string `json:"draws"`
		Auto  struct {
			Stop string `json:"stop"`
		} `json:"auto"`
		Sampler struct{ Chains, Draws int }
		Best    []struct{ Score float64 }
	}
	if err := json.Unmarshal(data, &summary); err != nil {
		return err
	}
	m.grade, m.stop, m.draws, m.suggestion = summary.Grade, summary.Auto.Stop, summary.Sampler.Chains*summary.Sampler.Draws, len(summary.Best)
	m.score = math.NaN()
	if len(summary.Best) > 0 {
		m.score = summary.Best[0].Score
	}
	if found := independent.FindStringSubmatch(summary.Draws); found != nil {
		m.worth, err = strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
	}
	return err
}

// processorTime is what a process has taken so far.
func processorTime(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(data, []byte(") "))
	fields := strings.Fields(string(rest))
	ticks := 0
	for _, k := range []int{11, 12} { // in user mode and in the kernel's
		n, err := strconv.Atoi(fields[k])
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100), nil
}
