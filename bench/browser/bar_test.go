package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestServeBars gives parts of bars other amounts: by keys, by the mouse, and not at all
// where one is only clicked, which shows what amounts there are.
func TestServeBars(t *testing.T) {
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1280, 1000), chromedp.Navigate(serveProblem(t, barProblem(t)))); err != nil {
		t.Fatal(err)
	}
	w.settled(1)
	// Amounts are those of the table, to what a jigger has, until another unit is chosen.
	w.is("amounts in quarters", "[...document.querySelectorAll('#list .amount')].every(e => /^(<¼|[0-9]*[¼½¾]?) cl$/.test(e.textContent))")
	w.does("const u = document.getElementById('unit'); u.value = '%'; u.dispatchEvent(new Event('change'))")
	w.is("percent", "[...document.querySelectorAll('#list .amount')].every(e => /^[0-9.]+ %$/.test(e.textContent)) && document.getElementById('batch-label').hidden")
	w.does("const u = document.getElementById('unit'); u.value = 'ml'; u.dispatchEvent(new Event('change'))")
	w.is("millilitres", "document.getElementById('batch').value === '90' && [...document.querySelectorAll('#list .amount')].every(e => /^(<1|[0-9]+) ml$/.test(e.textContent))")
	// With the shortlist come the figures of its models.
	w.is("how predictions change", "document.querySelectorAll('#responses figure svg').length > 2 && !document.getElementById('models-section').hidden && document.getElementById('models-head').textContent === 'How predictions change with amounts'")
	w.is("the best known recipe first", "/^Your best: ./.test(document.querySelector('#list .cards > :first-child h3').textContent) && document.querySelectorAll('#list .known .amount').length > 1")
	const first = `#list .card[data-entry="1"] .bar > [role=slider]`
	if words := w.text(`#list .card[data-entry="1"] .parts`); strings.TrimSpace(words) == "" {
		t.Error("a bar has no list beside it")
	}
	w.is("one stop of the Tab key", "document.querySelectorAll('#list .card[data-entry=\"1\"] .bar [tabindex=\"0\"]').length === 1 && /^[^,]+ [0-9.]+ %/.test(document.querySelector('#list .card[data-entry=\"1\"] .bar').getAttribute('aria-label'))")
	w.does("window.was = [...document.querySelectorAll('" + first + "')].map(e => [e.getAttribute('aria-label'), Number(e.getAttribute('aria-valuenow'))]); document.querySelector('" + first + "').focus()")
	w.press("ArrowRight", 39)
	w.is("the second part", "document.activeElement === document.querySelectorAll('"+first+"')[1]")
	w.press("ArrowUp", 38)
	w.press("ArrowUp", 38)
	w.is("more of it", "Number(document.activeElement.getAttribute('aria-valuenow')) === was[1][1] + 20 && /%, /.test(document.activeElement.getAttribute('aria-valuetext'))")
	w.press("Escape", 27)
	w.is("as before", "Number(document.activeElement.getAttribute('aria-valuenow')) === was[1][1]")
	w.press("ArrowUp", 38)
	w.press("Enter", 13)
	w.settled(2)
	if told := w.text("#steps [aria-current] strong"); !strings.Contains(told, " kept at ") {
		t.Errorf("the step is %q", told)
	}
	w.drag(first, 25)
	w.settled(3)
	if told := w.text("#steps [aria-current] strong"); !strings.Contains(told, " kept at ") {
		t.Errorf("after a part was dragged the step is %q", told)
	}
	w.drag(first, 0)
	w.is("its amounts", "document.getElementById('dose').open && document.querySelectorAll('#steps li').length === 3")
	w.accessible("the amounts of an ingredient")
}
