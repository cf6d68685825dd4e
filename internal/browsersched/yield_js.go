// Package browsersched lets others in during long work where a program has one thread: in a browser
// nothing that a page asks is heard until all that runs waits for something.
package browsersched

import (
	"context"
	"sync"
	"syscall/js"
	"time"
)

// turn is how long work goes on before the page is let in.
const turn = 30 * time.Millisecond

// Err returns ctx.Err(). In a browser it first lets the page in, some times a second: it
// stands wherever long work looks whether it is to end.
func Err(ctx context.Context) error {
	loop().letIn()
	return ctx.Err()
}

// A eventLoop is the one of the thread that the program has.
type eventLoop struct {
	port    js.Value // a message to it comes after what is waiting
	heard   js.Value // where it comes
	counted bool     // under Node, a port that listens keeps the process alive
	mu      sync.Mutex
	last    time.Time // when the page was let in
	waiting []chan struct{}
}

var loop = sync.OnceValue(func() *eventLoop {
	channel := js.Global().Get("MessageChannel").New()
	l := &eventLoop{port: channel.Get("port2"), heard: channel.Get("port1"), last: time.Now()}
	l.counted = l.heard.Get("unref").Type() == js.TypeFunction
	l.heard.Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.listen(false)
		l.last = time.Now()
		for _, w := range l.waiting {
			close(w)
		}
		l.waiting = nil
		return nil
	}))
	l.listen(false)
	return l
})

// letIn waits until the thread was idle, if it was not for a while.
func (l *eventLoop) letIn() {
	l.mu.Lock()
	if time.Since(l.last) < turn {
		l.mu.Unlock()
		return
	}
	w := make(chan struct{})
	if l.waiting = append(l.waiting, w); len(l.waiting) == 1 {
		l.listen(true)
		l.port.Call("postMessage", js.Null())
	}
	l.mu.Unlock()
	<-w
}

// listen says whether a message is still to come.
func (l *eventLoop) listen(on bool) {
	switch {
	case !l.counted:
	case on:
		l.heard.Call("ref")
	default:
		l.heard.Call("unref")
	}
}
