package search

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Steps divides a search into steps, so that several processes can share it. A step is a part of the search
// whose result depends only on the results of earlier steps. A process finds the results of earlier steps in a
// store, computes one more step and stores its result.
//
// A nil *Steps computes every step and stores nothing. One Steps serves one search.
type Steps struct {
	// Store holds the results.
	Store StepStore
	// Only is the name of the one step to compute, whose result is then stored. If Only is empty, no step is
	// computed. The search ends with [ErrStepsMissing] where it needs another result that is not stored.
	Only string
	// All means that every step whose result is not stored is computed, and that nothing is stored.
	All bool
	// MinSharedBound is the least time for the computation of bounds, in units of about a nanosecond, at which its
	// parts are steps. A shorter computation is two steps, one before and one after the search. 0 means two minutes.
	MinSharedBound int64

	mu      sync.Mutex
	missing []string // names of the steps whose results were needed and not there
}

// A StepStore stores results of steps by name. A name consists of letters, digits, "=", "-" and slashes.
type StepStore interface {
	// LoadStep returns the result of a step. The error is fs.ErrNotExist if there is none.
	LoadStep(ctx context.Context, name string) ([]byte, error)
	// SaveStep stores the result of a step. It does nothing if a result is there already, which is then equal.
	SaveStep(ctx context.Context, name string, result []byte) error
}

// ErrStepsMissing is returned where a search needs results of steps that another process has to compute first.
var ErrStepsMissing = errors.New("other steps of the search come first")

// IsStepError reports whether a search ended because steps are missing, or because a result could not be read or
// stored. Such a search has said nothing, and can be made again.
func IsStepError(err error) bool {
	return errors.Is(err, ErrStepsMissing) || errors.As(err, new(*stepStoreError))
}

// A stepStoreError is the error of a [StepStore], or of a result in it.
type stepStoreError struct {
	step string
	err  error
}

func (e *stepStoreError) Error() string {
	return fmt.Sprintf("the step %s of the search: %v", e.step, e.err)
}

func (e *stepStoreError) Unwrap() error { return e.err }

// Missing returns the names of the steps that can be computed now: all results that they need are stored.
func (s *Steps) Missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.missing)
	return slices.Compact(s.missing)
}

// isIn reports whether the one step to compute has a name with the given beginning.
func (s *Steps) isIn(prefix string) bool { return s != nil && strings.HasPrefix(s.Only, prefix) }

// isStored reports whether the result of the named step is stored.
func (s *Steps) isStored(ctx context.Context, name string) (bool, error) {
	_, err := s.Store.LoadStep(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, &stepStoreError{name, err}
	}
	return true, nil
}

// A stepResult is the result of a step. Its exported fields are stored.
type stepResult interface {
	// check returns an error if the result cannot be one of a search with n ingredients. The file may come from
	// someone else.
	check(n int) error
}

// RunStep returns the result of the named step, from the store or by calling compute. n is the number of
// ingredients.
func RunStep[T any, R interface {
	*T
	stepResult
}](ctx context.Context, s *Steps, name string, n int, compute func(ctx context.Context) (*T, error)) (*T, error) {
	if s == nil {
		return compute(ctx)
	}
	data, err := s.Store.LoadStep(ctx, name)
	if err == nil {
		result := new(T)
		if err = gob.NewDecoder(bytes.NewReader(data)).Decode(result); err == nil {
			err = R(result).check(n)
		}
		if err != nil {
			return nil, &stepStoreError{name, fmt.Errorf("its result is damaged: %w", err)}
		}
		return result, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, &stepStoreError{name, err}
	}
	if !s.All && s.Only != name {
		s.mu.Lock()
		s.missing = append(s.missing, name)
		s.mu.Unlock()
		return nil, ErrStepsMissing
	}
	result, err := compute(ctx)
	if err != nil || s.All {
		return result, err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(result); err != nil {
		return nil, err
	}
	if err := s.Store.SaveStep(ctx, name, b.Bytes()); err != nil {
		return nil, &stepStoreError{name, err}
	}
	return result, nil
}

// runSteps is [RunStep] for several steps that do not depend on each other. Step k has the number k after its
// name. At most the given number of workers compute at the same time.
func runSteps[T any, R interface {
	*T
	stepResult
}](ctx context.Context, s *Steps, workers int, name string, n, count int, compute func(ctx context.Context, k int) (*T, error)) ([]*T, error) {
	results := make([]*T, count)
	parts := make([]func(ctx context.Context) error, count)
	for k := range parts {
		parts[k] = func(ctx context.Context) (err error) {
			results[k], err = RunStep[T, R](ctx, s, fmt.Sprintf("%s%02d", name, k), n, func(ctx context.Context) (*T, error) { return compute(ctx, k) })
			return err
		}
	}
	return results, runIndependent(ctx, workers, parts...)
}

// runIndependent calls functions that do not depend on each other, at most the given number at the same time. If
// some lack steps, the others are called all the same, and the error is [ErrStepsMissing].
func runIndependent(ctx context.Context, workers int, parts ...func(ctx context.Context) error) error {
	var missing atomic.Bool
	call := func(ctx context.Context, part func(ctx context.Context) error) error {
		err := part(ctx)
		if errors.Is(err, ErrStepsMissing) {
			missing.Store(true)
			return nil
		}
		return err
	}
	if workers == 1 {
		for _, part := range parts {
			if err := call(ctx, part); err != nil {
				return err
			}
		}
	} else {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(workers)
		for _, part := range parts {
			g.Go(func() error { return call(ctx, part) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	if missing.Load() {
		return ErrStepsMissing
	}
	return nil
}

// check returns an error if the composition has an ingredient that is none of n, or no units of one.
func (f *Found) check(n int) error {
	for _, p := range f.Parts {
		if p.Ingredient < 0 || p.Ingredient >= n || p.Amount < 1 {
			return fmt.Errorf("%d units of ingredient %d of %d", p.Amount, p.Ingredient, n)
		}
	}
	return nil
}

// checkFound returns the first error of compositions that a step has found.
func checkFound(list []Found, n int) error {
	for k := range list {
		if err := list[k].check(n); err != nil {
			return err
		}
	}
	return nil
}
