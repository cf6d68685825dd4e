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

// NewMemoryStore returns a new store that keeps the files of a run in memory only. Its methods may
// be called concurrently.
func NewMemoryStore() Store { return &memoryStore{files: make(map[string][]byte)} }

// memoryStore is the [Store] that [NewMemoryStore] returns.
type memoryStore struct {
	mu    sync.RWMutex
	files map[string][]byte
}

var _ Store = (*memoryStore)(nil)

func (m *memoryStore) Location() string { return "memory" }

func (m *memoryStore) Path(name string) string { return "memory/" + name }

func (m *memoryStore) Create(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[name]; ok {
		return fmt.Errorf("%s: %w", m.Path(name), fs.ErrExist)
	}
	m.files[name] = bytes.Clone(data)
	return nil
}

func (m *memoryStore) Replace(_ context.Context, name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = bytes.Clone(data)
	return nil
}

func (m *memoryStore) Read(_ context.Context, name string, offset, length int64) ([]byte, error) {
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

func (m *memoryStore) List(_ context.Context, prefix string) ([]File, error) {
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

func (m *memoryStore) Remove(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
	return nil
}
