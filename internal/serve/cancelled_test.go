package serve

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// A computation of the campaign that another one replaces ends with an error that says only so: it
// is no note. Other errors are.
func TestCancelledWorkIsNoNote(t *testing.T) {
	s := asking(t)
	s.ctx = t.Context()
	begun := make(chan struct{})
	s.startComputation("standing", func(ctx context.Context) error {
		close(begun)
		<-ctx.Done()
		return errors.Join(errors.New("the models were not learnt"), ctx.Err())
	})
	<-begun
	s.startComputation("standing", func(ctx context.Context) error { return nil })
	s.runningWork.Wait()
	s.addErrorNote(errors.New("the disk is full"))
	if want := []string{"the disk is full"}; !slices.Equal(s.stepNotes, want) {
		t.Errorf("the notes are %q, want %q", s.stepNotes, want)
	}
}
