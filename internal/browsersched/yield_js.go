// Package browsersched lets a page's requests be handled during long work. A program in a browser
// has one thread, so the page waits until all goroutines are blocked.
package browsersched

import (
	"context"
	"sync"
	"syscall/js"
	"time"
)

// yieldInterval is the time after which work yields to the page.
const yieldInterval = 30 * time.Millisecond

// Err returns ctx.Err(). In a browser it first yields to the page, if yieldInterval has passed. Long
// work calls it wherever it checks whether it must end.
func Err(ctx context.Context) error {
	loop().yieldToPage()
	return ctx.Err()
}

// An eventLoop yields the program's only thread to the event loop of JavaScript. It posts a message
// to itself, which arrives after all events that were waiting before.
type eventLoop struct {
	sender     js.Value // the port to which messages are posted
	receiver   js.Value // the port at which they arrive
	keepsAlive bool     // a listening receiver keeps the process alive, as under Node
	mu         sync.Mutex
	lastYield  time.Time       // when the thread yielded last
	waiting    []chan struct{} // closed when the message arrives
}

var loop = sync.OnceValue(func() *eventLoop {
	channel := js.Global().Get("MessageChannel").New()
	l := &eventLoop{sender: channel.Get("port2"), receiver: channel.Get("port1"), lastYield: time.Now()}
	l.keepsAlive = l.receiver.Get("unref").Type() == js.TypeFunction
	l.receiver.Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.keepAlive(false)
		l.lastYield = time.Now()
		for _, w := range l.waiting {
			close(w)
		}
		l.waiting = nil
		return nil
	}))
	l.keepAlive(false)
	return l
})

// yieldToPage blocks until waiting events were handled, if yieldInterval has passed since the last
// time.
func (l *eventLoop) yieldToPage() {
	l.mu.Lock()
	if time.Since(l.lastYield) < yieldInterval {
		l.mu.Unlock()
		return
	}
	w := make(chan struct{})
	if l.waiting = append(l.waiting, w); len(l.waiting) == 1 {
		l.keepAlive(true)
		l.sender.Call("postMessage", js.Null())
	}
	l.mu.Unlock()
	<-w
}

// keepAlive sets whether the receiver keeps the process alive, which it must while a message is to
// come.
func (l *eventLoop) keepAlive(on bool) {
	switch {
	case !l.keepsAlive:
	case on:
		l.receiver.Call("ref")
	default:
		l.receiver.Call("unref")
	}
}
