package property

import (
	"bufio"
	"bytes"
	"math"
	"testing"
)

// FuzzAnswer reads what a program answers: as many logs of scores as it was asked for,
// or an error.
func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{"[0.25,0.75]\n", "[1]\r\n", "[null, -1]", "[1e400, 2]", "[0,0]", "[[1],2]", "0.5"} {
		f.Add([]byte(answer), 2)
	}
	f.Fuzz(func(t *testing.T, said []byte, recipes int) {
		const most = 64
		line, err := readLine(bufio.NewReaderSize(bytes.NewReader(said), 16), most)
		if len(line) > most+16 || bytes.IndexByte(line, '\n') >= 0 {
			t.Fatalf("the line is %q: %v", line, err)
		}
		logs, err := appendAnswerLogs(nil, line, recipes)
		if err == nil && len(logs) != recipes {
			t.Fatalf("%q has %d logs, want %d", line, len(logs), recipes)
		}
		for _, log := range logs {
			if math.IsNaN(log) || math.IsInf(log, 1) {
				t.Fatalf("%q has the log %v", line, log)
			}
		}
	})
}
