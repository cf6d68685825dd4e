//go:build js

// Command kirpage is the page of kir serve as a site without a server: compiled to
// WebAssembly it answers, in a worker of the browser, what the page asks. See site/worker.js
// for who calls it.
package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall/js"
)

func main() {
	handler, err := open(context.Background())
	if err != nil {
		js.Global().Call("kirFailed", err.Error())
		return
	}
	js.Global().Call("kirReady", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return ask(handler, args[0], args[1])
	}))
	select {}
}

// ask has a request answered: {method, path, headers, body}, by the functions head(status,
// headers), chunk(bytes) and end() of the answer. What it returns cancels it.
func ask(handler http.Handler, request, answer js.Value) any {
	ctx, cancel := context.WithCancel(context.Background())
	body := []byte(nil)
	if given := request.Get("body"); given.Truthy() {
		body = make([]byte, given.Get("length").Int())
		js.CopyBytesToGo(body, given)
	}
	r, err := http.NewRequestWithContext(ctx, request.Get("method").String(), request.Get("path").String(), bytes.NewReader(body))
	if err != nil {
		panic(err) // the worker asks for addresses that it has parsed
	}
	headers := request.Get("headers")
	for names := js.Global().Get("Object").Call("keys", headers); names.Length() > len(r.Header); {
		name := names.Index(len(r.Header)).String()
		r.Header.Set(name, headers.Get(name).String())
	}
	w := &response{answer: answer, header: make(http.Header)}
	go func() {
		defer cancel()
		handler.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		answer.Call("end")
	}()
	var stop js.Func
	stop = js.FuncOf(func(js.Value, []js.Value) any {
		cancel()
		stop.Release()
		return nil
	})
	return stop
}

// A response hands on to the worker what a handler answers.
type response struct {
	answer js.Value
	header http.Header
	begun  bool
}

var (
	_ http.ResponseWriter = (*response)(nil)
	_ http.Flusher        = (*response)(nil)
	_ io.StringWriter     = (*response)(nil)
)

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	if w.begun {
		return
	}
	w.begun = true
	headers := make(map[string]any, len(w.header))
	for name, values := range w.header {
		headers[name] = strings.Join(values, ", ")
	}
	w.answer.Call("head", status, headers)
}

func (w *response) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	chunk := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(chunk, data)
	w.answer.Call("chunk", chunk)
	return len(data), nil
}

func (w *response) WriteString(text string) (int, error) { return w.Write([]byte(text)) }

// Flush does nothing: each piece is handed on as it is written.
func (w *response) Flush() {}
