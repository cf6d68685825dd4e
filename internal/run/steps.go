package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"kir/internal/search"
)

// steps returns the steps of the searches of the run. The parameter only names the one step to
// compute, if any.
func (s *session) steps(only string) *search.Steps {
	return &search.Steps{Store: stepFiles{s}, Only: only}
}

// searchInSteps searches for the best compositions by steps, after the draws of all chains are
// stored.
func (s *session) searchInSteps(ctx context.Context, steps *search.Steps) (*search.Answer, error) {
	b, err := search.RunStep(ctx, steps, figuresStep, s.spec.Target.Space().N(), func(ctx context.Context) (*search.RunFigures, error) {
		status, err := readStatus(s.ctx, s.store, s.manifest)
		if err == nil && !status.Complete() {
			err = &TaskError{s.store.Location(), figuresStep, errors.New("the draws come first")}
		}
		if err != nil {
			return nil, err
		}
		r, err := computeFigures(ctx, s.spec, s.store, s.manifest, s.options.Workers)
		if err != nil {
			return nil, err
		}
		return s.runFigures(r)
	})
	if err != nil {
		return nil, err
	}
	if steps.Only == figuresStep {
		return nil, search.ErrStepsMissing // other processes go on
	}
	return s.spec.Question.Answer(ctx, search.RunContext{Iterations: b.Iterations, Found: b.Found, Seed: s.spec.Settings.Seed, Workers: s.options.Workers, Steps: steps})
}

// figuresStep is the name of the step that computes what the search needs of the draws.
const figuresStep = "figures"

// stepFiles stores the results of steps as files of a run.
type stepFiles struct{ session *session }

// fileName returns the name of the file of a step. The steps of a search depend on the draws and on
// the effort, so their files lie in a directory whose name identifies these.
func (f stepFiles) fileName(name string) string {
	m := f.session.manifest
	settings, effort := m.Settings, 0.0
	if strings.HasPrefix(name, "trade-off") {
		settings.Draws, settings.Thin, settings.Warmup = 0, 0, 0 // it does not depend on the draws
	}
	if q := f.session.spec.Question; q != nil {
		effort = q.Effort
	}
	key := hexSHA256(fmt.Appendf(nil, "%s %d %d %d %v", m.Run, settings.Draws, settings.Thin, settings.Warmup, effort))
	return "steps/" + key[:16] + "/" + name + ".kir"
}

// LoadStep returns the result of a step.
func (f stepFiles) LoadStep(ctx context.Context, name string) ([]byte, error) {
	file := f.fileName(name)
	data, err := ReadWhole(ctx, f.session.store, file, maxStateBytes)
	if err != nil {
		return nil, err
	}
	if data, err = openSealed(stepHeader, data); err == nil {
		data, err = inflate(data, maxStepBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w; remove it, and it is made again", f.session.store.Path(file), ErrDamaged, err)
	}
	return data, nil
}

// SaveStep stores the result of a step, unless it is there.
func (f stepFiles) SaveStep(ctx context.Context, name string, result []byte) error {
	if len(result) > maxStepBytes {
		return fmt.Errorf("the step %s found more than %d bytes, which is too much to share: make the search with kir merge alone", name, maxStepBytes)
	}
	data, err := sealBinary(stepHeader, result)
	if err != nil {
		return err
	}
	if err := f.session.store.Create(context.WithoutCancel(ctx), f.fileName(name), data); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// maxStepBytes is the largest uncompressed size of the result of a step. A composition takes a byte
// at least, and 56 in memory.
const maxStepBytes = 16 << 20

// stepHeader is the first line of the file of a step.
const stepHeader = "kir step 1\n"

// isStepName reports whether a name can be that of a step, and so the name of a file.
func isStepName(name string) bool {
	return name != "" && !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789=-") != ""
	})
}
