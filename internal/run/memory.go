package run

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Memory returns a store that keeps a run in memory only. Its methods may be called concurrently.
func Memory() Store { return &memory{files: make(map[string][]byte)} }

// memory is the store of [Memory].
type memory struct {
	mu    sync.RWMutex
	files map[string][]byte
}

var _ Store = (*memory)(nil)

func (m *memory) Location() string { return "memory" }

func (m *memory) Path(name string) string { return "memory/" + name }

func (m *memory) Create(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[name]; ok {
		return fmt.Errorf("%s: %w", m.Path(name), fs.ErrExist)
	}
	m.files[name] = bytes.Clone(data)
	return nil
}

func (m *memory) Replace(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = bytes.Clone(data)
	return nil
}

func (m *memory) Read(_ context.Context, name string, offset, length int64) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	data, ok := m.files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", m.Path(name), fs.ErrNotExist)
	}
	from := min(offset, int64(len(data)))
	to := int64(len(data))
	if length >= 0 {
		to = min(to, from+length)
	}
	return bytes.Clone(data[from:to]), nil
}

func (m *memory) List(_ context.Context, prefix string) ([]File, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var files []File
	for _, name := range slices.Sorted(maps.Keys(m.files)) {
		if strings.HasPrefix(name, prefix) {
			files = append(files, File{Name: name, Size: int64(len(m.files[name]))})
		}
	}
	return files, nil
}

func (m *memory) Remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
	return nil
}
