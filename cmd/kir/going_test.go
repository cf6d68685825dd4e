package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStatusOfWhatIsGoing: a run that is going is told as such, by kir status and by what
// needs it finished, and how to go on is told once it has ended.
func TestStatusOfWhatIsGoing(t *testing.T) {
	dir := t.TempDir()
	problem := filepath.Join(dir, "problem.yaml")
	if err := os.WriteFile(problem, []byte("ingredients: {count: 40}\ntotal: 100\nsparsity: {uniform: [2, 9]}\nsampler: {chains: 2, warmup: 1000, draws: 50000000}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "run")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- execute(ctx, []string{"sample", problem, "-o", at, "--workers", "1"}, new(bytes.Buffer), new(bytes.Buffer))
	}()
	status := func() string {
		var out, errs bytes.Buffer
		if err := execute(t.Context(), []string{"status", at}, &out, &errs); err != nil {
			return err.Error()
		}
		return out.String()
	}
	var going string
	for range 1200 { // a minute
		if going = status(); strings.Contains(going, "ended") {
			t.Fatalf("of a run that begins it is told\n%s", going)
		} else if strings.Contains(going, " stored (") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if !strings.Contains(going, "It is running.") || strings.Contains(going, "resume") {
		t.Errorf("of a run that is going it is told\n%s", going)
	}
	var out bytes.Buffer
	if err := execute(t.Context(), []string{"show", at}, &out, &out); err == nil || !strings.Contains(err.Error(), "the run is still going") || strings.Contains(err.Error(), "resume") {
		t.Errorf("kir show says %v", err)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if stopped := status(); !strings.Contains(stopped, "Continue with kir resume") || strings.Contains(stopped, "running") {
		t.Errorf("of a run that was ended it is told\n%s", stopped)
	}
}
