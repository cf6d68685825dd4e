package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDamagedState: a flipped bit in the state of a finished run is reported as damage, with
// the way out; what does not need the state works, and the way out makes all well.
func TestDamagedState(t *testing.T) {
	t.Chdir(t.TempDir())
	problem := strings.Replace(sharesProblem, "draws: 20000", "draws: 700", 1)
	if err := os.WriteFile("problem.yaml", []byte(problem), 0o644); err != nil {
		t.Fatal(err)
	}
	kir := func(line string) (status int, out, messages string) {
		t.Helper()
		var o, m bytes.Buffer
		status = reportError(execute(patient(t.Context()), strings.Fields(line), &o, &m), &m)
		return status, o.String(), m.String()
	}
	must := func(line string) string {
		t.Helper()
		status, out, messages := kir(line)
		if status != 0 {
			t.Fatalf("kir %s: %s", line, messages)
		}
		return out
	}
	must("sample problem.yaml -o run")
	want := map[string]string{"show run": "", "draws run": "", "show run --recipe 1 --batch 100ml": ""}
	for line := range want {
		want[line] = must(line)
	}
	state := filepath.Join("run", "state", "chain=0001.kir")
	whole, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	const told, way = "state/chain=0001.kir: the file is damaged", "kir resume run"
	for _, at := range []int{0, 3, len(whole) / 2, len(whole) - 1} {
		flipped := bytes.Clone(whole)
		flipped[at] ^= 1 << (at % 8)
		if err := os.WriteFile(state, flipped, 0o644); err != nil {
			t.Fatal(err)
		}
		for line, out := range want {
			status, is, messages := kir(line)
			if status != 0 || is != out || strings.Count(messages, told) != 1 || !strings.Contains(messages, way) {
				t.Errorf("byte %d, kir %s: status %d: %s", at, line, status, messages)
			}
		}
		for _, line := range []string{"report run -o page.html", "report run", "compare run run"} {
			if status, _, messages := kir(line); status != 0 || !strings.Contains(messages, told) || !strings.Contains(messages, way) {
				t.Errorf("byte %d, kir %s: status %d: %s", at, line, status, messages)
			}
		}
		if out := must("status run"); !strings.Contains(out, told) || !strings.Contains(out, way) || !strings.Contains(out, "2 done, 0 ") || !strings.Contains(out, "All draws are stored") {
			t.Errorf("byte %d: kir status says %s", at, out)
		}
		// What needs the state is refused, with the way out.
		if status, _, messages := kir("merge run"); status != 2 || !strings.Contains(messages, told) || !strings.Contains(messages, way) {
			t.Errorf("byte %d, kir merge: status %d: %s", at, status, messages)
		}
		must("resume run")
		if status, _, messages := kir("draws run"); status != 0 || messages != "" {
			t.Errorf("byte %d: after kir resume: %s", at, messages)
		}
		if is := must("draws run"); is != want["draws run"] {
			t.Errorf("byte %d: after kir resume there are other draws", at)
		}
		must("merge run")
		if status, _, messages := kir("resume run"); status != 2 || !strings.Contains(messages, "nothing to resume") {
			t.Errorf("byte %d: a run that is well is resumed: %d %s", at, status, messages)
		}
		want["show run"] = must("show run") // which tells how long the chains took
	}

	// The same of a state that is gone.
	if err := os.Remove(state); err != nil {
		t.Fatal(err)
	}
	if is := must("draws run"); is != want["draws run"] {
		t.Error("without a state there are other draws")
	}
	must("show run")
	must("resume run")
	if _, err := os.Stat(state); err != nil {
		t.Error(err)
	}
}

// TestDamagedDraws: whatever reads a damaged file of draws ends with 2, names the file and says what
// to do, which makes all well.
func TestDamagedDraws(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("problem.yaml", []byte(strings.Replace(sharesProblem, "draws: 20000", "draws: 700", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	kir := func(line string) (status int, out, messages string) {
		t.Helper()
		var o, m bytes.Buffer
		status = reportError(execute(patient(t.Context()), strings.Fields(line), &o, &m), &m)
		return status, o.String(), m.String()
	}
	if status, _, messages := kir("sample problem.yaml -o run"); status != 0 {
		t.Fatal(messages)
	}
	_, want, _ := kir("draws run")
	part := filepath.Join("run", "draws", "chain=0000", "part-00000.parquet")
	whole, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(whole)/2] ^= 4
	for name, data := range map[string][]byte{"cut": whole[:len(whole)/2], "empty": nil, "flipped": flipped, "another file": []byte(strings.Repeat("x", len(whole)))} {
		if err := os.WriteFile(part, data, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"show run", "show run --recipe 1", "draws run", "report run -o page.html", "resume run", "merge run", "status run", "status run --json", "compare run run"} {
			if _, seen := map[string]bool{"flipped": true, "another file": true}[name]; seen && strings.HasPrefix(line, "status") {
				continue // it looks at lengths and ends of files where these are as they should be
			}
			status, _, messages := kir(line)
			finish := strings.Contains(messages, "go on with `kir resume run`") // which says the rest
			if status != 2 || !finish && (!strings.Contains(messages, part+": the file is damaged") || !strings.Contains(messages, "remove it, and the parts of the chain after it, and kir resume makes them again")) {
				t.Errorf("%s, kir %s: status %d: %s", name, line, status, messages)
			}
		}
	}
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	if status, _, messages := kir("resume run"); status != 0 {
		t.Errorf("without the part kir resume ends with %d: %s", status, messages)
	}
	if _, is, _ := kir("draws run"); is != want {
		t.Error("the draws that were made again are others")
	}
}
