package run

import (
	"cmp"
	"io"
	"os"
	"sync"
)

// syncBytes is how much an output writes before it begins to bring it to the
// disk, so that little is left to wait for when it must be there.
const syncBytes = 8 << 20

// An output is a file that is written to for a long time. It brings what is
// written to the disk in the background.
type output struct {
	file     file
	unsynced int

	syncing sync.WaitGroup
	mu      sync.Mutex
	busy    bool
	err     error // of syncing in the background
}

// openOutput opens a file at an offset and cuts off what lies behind it.
func (d *directory) openOutput(name string, offset int64) (*output, error) {
	f, err := d.open(d.join(name), os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	err = f.Truncate(offset)
	if err == nil {
		_, err = f.Seek(offset, io.SeekStart)
	}
	if err != nil {
		return nil, cmp.Or(err, f.Close())
	}
	return &output{file: f}, nil
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if o.unsynced += n; o.unsynced >= syncBytes && err == nil {
		o.startSync()
	}
	return n, err
}

// startSync begins to sync unless that is under way.
func (o *output) startSync() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.busy {
		return
	}
	o.busy, o.unsynced = true, 0
	o.syncing.Go(func() {
		err := o.file.Sync()
		o.mu.Lock()
		defer o.mu.Unlock()
		o.busy, o.err = false, cmp.Or(o.err, err)
	})
}

// sync returns when all that was written has reached the disk. An error of the
// disk is reported once by the system, to whoever syncs next: one that the
// background met counts.
func (o *output) sync() error {
	o.syncing.Wait()
	o.unsynced = 0
	return cmp.Or(o.err, o.file.Sync())
}

func (o *output) close() error {
	o.syncing.Wait()
	return o.file.Close()
}
