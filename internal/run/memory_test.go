package run

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"testing"
)

// A store in memory keeps what a directory keeps: both are asked the same.
func TestMemory(t *testing.T) {
	ctx := context.Background()
	type answer struct {
		Data  string
		Names []string
		Err   error
	}
	ask := func(s Store) (all []answer) {
		say := func(data []byte, files []File, err error) {
			a := answer{Data: string(data)}
			for _, f := range files {
				a.Names = append(a.Names, f.Name)
			}
			for _, kind := range []error{fs.ErrExist, fs.ErrNotExist} {
				if errors.Is(err, kind) {
					a.Err = kind
				}
			}
			all = append(all, a)
		}
		say(nil, nil, s.Create(ctx, "draws/a", []byte("first")))
		say(nil, nil, s.Create(ctx, "draws/a", []byte("second")))
		say(nil, nil, s.Replace(ctx, "b", []byte("third")))
		say(nil, nil, s.Replace(ctx, "b", []byte("fourth")))
		for _, r := range [][2]int64{{0, -1}, {1, 2}, {3, 100}, {5, 1}, {9, 1}} {
			data, err := s.Read(ctx, "draws/a", r[0], r[1])
			say(data, nil, err)
		}
		data, err := s.Read(ctx, "c", 0, -1)
		say(data, nil, err)
		for _, prefix := range []string{"", "draws/", "x"} {
			files, err := s.List(ctx, prefix)
			say(nil, files, err)
		}
		say(nil, nil, s.Remove(ctx, "b"))
		say(nil, nil, s.Remove(ctx, "b"))
		data, err = s.Read(ctx, "b", 0, -1)
		say(data, nil, err)
		return all
	}
	got, want := ask(NewMemoryStore()), ask(NewDirectoryStore(t.TempDir()))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("memory answers\n%v\na directory\n%v", got, want)
	}
}
