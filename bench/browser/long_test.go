package browser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// resident is how many bytes of memory a process has.
func resident(t *testing.T, process *os.Process) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process.Pid))
	if err != nil {
		t.Skipf("how much memory a process has is read in /proc: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// A burden is what a page holds.
type burden struct {
	Elements int `json:"elements"`
	Drafts   int `json:"drafts"` // characters in the browser's storage
	heap     float64
}

// burden measures what the page holds, after all that can be given back was.
func (w *walk) burden() burden {
	w.t.Helper()
	held, err := chromedp.Run(w.ctx, chromedp.Evaluate[burden](`({elements: document.querySelectorAll('*').length, drafts: Object.entries(localStorage).join('').length})`))
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := chromedp.Call(w.ctx, heapprofiler.CollectGarbage, struct{}{}); err != nil {
		w.t.Fatal(err)
	}
	heap, err := chromedp.Call(w.ctx, runtime.GetHeapUsage, struct{}{})
	if err != nil {
		w.t.Fatal(err)
	}
	held.heap = heap.UsedSize
	return held
}

// TestServeLong: a page that ten thousand steps were made on, and that received ten thousand messages
// of something new, holds no more than a fresh one and is as quick; nor does the server hold
// more than the history. The last step that fits is made, and the next one is refused with a word.
func TestServeLong(t *testing.T) {
	const steps, made = 10_000, 6
	file := drinkProblem(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		ID     int    `json:"id"`
		Parent int    `json:"parent"`
		Name   string `json:"name"`
		Change string `json:"change"`
		Text   string `json:"text"`
	}
	short := drinkProblem(t) // the same problem without a history
	history := struct {
		Current int    `json:"current"`
		Steps   []step `json:"steps"`
	}{Current: steps - made}
	for k := range steps - made {
		history.Steps = append(history.Steps, step{k + 1, k, "", fmt.Sprintf("liking counts %d", k%7), strings.Replace(string(text), "sampler: {", fmt.Sprintf("sampler: {seed: %d, ", k), min(k, 1))})
	}
	data, err := json.Marshal(history)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "bar.steps.json"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("the history has %d steps in %.1f MB", len(history.Steps), float64(len(data))/1e6)

	// stepped makes steps, and returns how long the quickest takes until the page shows it, the page's
	// burden and the server's memory then.
	stepped := func(name, file string, first int) (w *walk, quickest time.Duration, held burden, memory int) {
		quickest = time.Hour
		w = &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
		address, server, _ := servedBy(t, "", file)
		// What the page listens to is kept, to tell it more.
		if _, err := chromedp.Call(w.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			const add = EventTarget.prototype.addEventListener;
			window.heard = 0;
			window.listeners = {};
			window.last = {};
			EventTarget.prototype.addEventListener = function (kind, to, ...more) {
				if (this?.constructor?.name !== 'Events' || kind === 'lost') return add.call(this, kind, to, ...more);
				window.listeners[kind] = to;
				return add.call(this, kind, e => { window.last[kind] = e.data; window.heard += e.data.length; to(e); });
			};`}); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(address)); err != nil {
			t.Fatal(err)
		}
		w.settled(first)
		for k := range made {
			heard, err := chromedp.Run(w.ctx, chromedp.Evaluate[int]("window.heard"))
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			w.does(fmt.Sprintf(`import('/js/server.js').then(m => m.ask('/do', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({do: 'weight', property: 'liking', weight: %d})}))`, 2+k))
			w.is("the step", fmt.Sprintf("document.querySelector('#steps [aria-current] strong')?.textContent.startsWith('%d.')", first+k+1))
			quickest = min(quickest, time.Since(begun))
			w.settled(first + k + 1)
			after, err := chromedp.Run(w.ctx, chromedp.Evaluate[int]("window.heard"))
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				t.Logf("%s: a step sends %.2f MB to the page", name, float64(after-heard)/1e6)
			}
			if after-heard > 1<<18 {
				t.Errorf("%s: a step sends %.1f MB to the page", name, float64(after-heard)/1e6)
			}
		}
		held, memory = w.burden(), resident(t, server)
		t.Logf("%s: a step is on the page after %.2f s at best; %+v; the server has %.0f MB", name, quickest.Seconds(), held, float64(memory)/1e6)
		return w, quickest, held, memory
	}
	_, quick, few, small := stepped("fresh", short, 1)
	w, slow, many, large := stepped("ten thousand steps", file, steps-made)
	if slow > quick+2*time.Second {
		t.Errorf("with %d steps one takes %v, at first %v", steps, slow, quick)
	}
	// The page shows the last hundred steps, of about ten elements each.
	if many.Elements > few.Elements+1200 || many.heap > few.heap+8e6 || many.Drafts > few.Drafts+1000 {
		t.Errorf("with %d steps the page holds %+v, at first %+v", steps, many, few)
	}
	// The history is held once, and while it is written some three times.
	if large > small+8*len(data) {
		t.Errorf("with %d steps the server has %d bytes, at first %d", steps, large, small)
	}
	w.does("import('/js/state.js').then(m => m.ask({do: 'weight', property: 'liking', weight: 9}))")
	w.is("that no more fits", "/[Tt]he history is full: save the problem under another name/.test(document.getElementById('said').textContent)")
	w.click("#said button")

	// Ten thousand messages, of which each is shown as one of the server's is.
	took, err := chromedp.Run(w.ctx, chromedp.Evaluate[[]float64](`(async () => {
		const kinds = ['draws', 'list', 'state', 'campaign'].filter(k => window.last[k] && window.listeners[k]), times = [];
		for (let k = 0; k < 10000; k += kinds.length) {
			const begun = performance.now();
			for (const kind of kinds) window.listeners[kind]({data: window.last[kind]});
			if (k % 250 < kinds.length) {
				await new Promise(done => setTimeout(done, 17)); // a message is shown in a frame
				times.push(performance.now() - begun);
			} else await null;
		}
		const part = times.length / 4 | 0; // the quickest of each quarter, as a machine may have much else to do
		return [kinds.length, Math.min(...times.slice(0, part)), Math.min(...times.slice(-part))];
	})()`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	after := w.burden()
	t.Logf("10,000 messages of %v kinds: the quickest frame takes %.0f ms in the first quarter and %.0f ms in the last; %+v", took[0], took[1], took[2], after)
	if took[2] > 2*took[1]+20 {
		t.Errorf("a frame takes %.0f ms at first, and %.0f ms after ten thousand messages", took[1], took[2])
	}
	if after.Elements > many.Elements+50 || after.heap > many.heap+4e6 || after.Drafts > many.Drafts {
		t.Errorf("after ten thousand messages the page holds %+v, before %+v", after, many)
	}
}
