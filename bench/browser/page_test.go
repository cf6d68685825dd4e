package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// measured is a script that finds what is too small to be hit or read, and what scrolls up and down
// inside the page. Parts of bars are as long as amounts, and each has a row with the same controls.
const measured = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
	const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && e.getBoundingClientRect().width > 0;
	const all = selector => [...document.querySelectorAll(selector)].filter(seen);
	const hit = e => (e.matches('input[type=checkbox]') && e.closest('label') || e).getBoundingClientRect();
	return {
		small: all('a[href], button, input, select, textarea, summary, [role=tab], [role=radio], [role=slider]').filter(e => !e.closest('.bar, .skip'))
			.filter(e => hit(e).width < 23.9 || hit(e).height < 23.9).map(e => e.outerHTML.slice(0, 90) + ' ' + hit(e).width + ' × ' + hit(e).height),
		faint: all('svg text').map(e => [e.textContent, parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getBoundingClientRect().width / e.ownerSVGElement.viewBox.baseVal.width])
			.filter(([, size]) => size < 11.95).map(([text, size]) => text + ': ' + size),
		nested: all('body *').filter(e => /auto|scroll/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight + 1 && !e.closest('dialog')).map(e => e.outerHTML.slice(0, 90)),
	};
})`

// sized holds that in each window everything can be hit and read, and that one bar scrolls the page.
func (w *walk) sized(state string) {
	w.t.Helper()
	for _, v := range [][2]int64{{1440, 900}, {768, 1024}, {360, 800}} {
		if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(v[0], v[1])); err != nil {
			w.t.Fatal(err)
		}
		got, err := chromedp.Run(w.ctx, chromedp.Evaluate[struct{ Small, Faint, Nested []string }](measured, chromedp.EvalAwaitPromise))
		if err != nil {
			w.t.Fatal(err)
		}
		for what, all := range map[string][]string{"smaller than 24 pixels": got.Small, "text in a chart smaller than 12 pixels": got.Faint, "scrolls inside the page": got.Nested} {
			for k, e := range all {
				if k < 5 {
					w.t.Errorf("%s, %d × %d: %s: %s", state, v[0], v[1], what, e)
				}
			}
		}
	}
}

// TestPageOfCocktails goes through the page of cocktails as somebody does who sees it first: an amount is
// limited in centilitres, an ingredient is pinned twice, a recipe is measured, colours and choices stay
// when the page is loaded again, and the campaign is in a tab.
func TestPageOfCocktails(t *testing.T) {
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1440, 900), chromedp.Navigate(serveProblem(t, barProblem(t)))); err != nil {
		t.Fatal(err)
	}
	w.settled(1)
	w.is("what the state is called", "document.getElementById('phase').textContent === 'Up to date'")
	w.does("scrollTo({top: 2000, behavior: 'instant'})")
	w.is("the state in sight", "scrollY > 1000 && (b => b.top >= 0 && b.bottom <= 100)(document.getElementById('phase').getBoundingClientRect())")
	w.does("scrollTo({top: 0, behavior: 'instant'})")

	// Filters are folded, and colours those of ingredients until the attribute is chosen.
	w.is("one button", "!document.getElementById('find').checkVisibility() && document.querySelector('#list-tools > summary').checkVisibility()")
	several := `new Set([...document.querySelectorAll('#list .card[data-entry="1"] .bar > span')].map(e => e.className)).size === document.querySelectorAll('#list .card[data-entry="1"] .bar > span').length`
	w.is("a colour an ingredient", several+" && !document.getElementById('key').checkVisibility()")
	w.does("document.getElementById('list-tools').open = true; const s = document.getElementById('colour-by'); s.value = 'kind'; s.dispatchEvent(new Event('change'))")
	w.is("colours by kind", "document.querySelectorAll('#key li').length > 3 && document.getElementById('key').checkVisibility()")

	// What is wrong in a dialog is said in it; an amount in a unit of the page is taken.
	const name = "Gin"
	w.does("document.dispatchEvent(new CustomEvent('steer', {detail: '" + name + "'}))")
	limit := func(text string) {
		w.is("the dialog", "document.getElementById('dose').open && / cl$/.test(document.querySelector('[data-key=\"dose high\"]').value)")
		w.does("const i = document.querySelector('[data-key=\"dose high\"]'); i.value = '" + text + "'; i.form.requestSubmit()")
	}
	limit("1.5 dl")
	w.is("the error", "/1.5 dl.*no amount.*cl/.test(document.querySelector('#dose [role=alert]').innerText) && document.getElementById('said').hidden")
	w.accessible("an error in a dialog")
	w.sized("a dialog")
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1440, 900)); err != nil {
		t.Fatal(err)
	}
	w.does("document.getElementById('dose').close(); document.dispatchEvent(new CustomEvent('steer', {detail: '" + name + "'}))")
	w.is("no error any more", "document.querySelector('#dose [role=alert]').innerText === ''")
	w.does("window.dimmed = 0; new MutationObserver(() => { if (document.getElementById('list').matches('.old[aria-busy=true]')) dimmed++; }).observe(document.getElementById('list'), {attributes: true})")
	limit("1.5 cl")
	w.settled(2)
	if told := w.text("#steps [aria-current] strong"); !strings.Contains(told, name+" at most ") || !strings.Contains(told, "(1.5 of 9 cl)") {
		t.Errorf("the step is %q", told)
	}
	w.is("the old list was dimmed, and the new one is not", "dimmed > 0 && !document.getElementById('list').matches('.old')")

	// By the form a limit has a unit, too.
	w.does("document.getElementById('constraint-add').open = true; const k = document.getElementById('rule-kind'); k.value = 'amount'; k.dispatchEvent(new Event('change'))")
	w.does("const [of, , most] = document.querySelectorAll('#rule-fields input'); of.value = 'vodka'; most.value = '20 ml'; document.getElementById('rule-form').requestSubmit()")
	w.settled(3)
	if rules := w.text("#constraints"); !strings.Contains(rules, "Vodka: at most 22.2 %") {
		t.Errorf("the constraints are %q", rules)
	}

	// What holds already is said to, and its button is set.
	always := func(kind, ingredient string) {
		w.does(fmt.Sprintf("document.getElementById('constraint-add').open = true; const k = document.getElementById('rule-kind'); k.value = '%s'; k.dispatchEvent(new Event('change')); document.querySelector('#rule-fields input').value = '%s'; document.getElementById('rule-form').requestSubmit()", kind, ingredient))
	}
	always("require", "Lemon juice")
	w.settled(4)
	always("require", "lemon JUICE")
	w.is("so already", "/changes nothing.*already/i.test(document.getElementById('said').innerText) && document.getElementById('said').checkVisibility()")
	w.is("set", "document.querySelector('[data-key=\"pin 0 Lemon juice\"]').getAttribute('aria-pressed') === 'true' && [...document.querySelectorAll('[data-key^=\"pin 0 \"]')].filter(b => b.getAttribute('aria-pressed') === 'true').length === 1")
	always("exclude", "Rum")
	w.is("an ingredient that is not there is refused", "!document.getElementById('fault').hidden || document.querySelectorAll('#steps li').length === 5 || !document.getElementById('said').hidden")
	w.does("document.querySelector('[data-key=\"to 4\"]')?.click()")
	w.settled(4)

	// The sheet of a recipe is a table; volumes are measured.
	w.is("measured", "document.querySelector('[data-key=\"weigh 0\"]').textContent === 'Measure out'")
	w.click("[data-key='weigh 0']")
	w.is("a table", "document.querySelector('dialog[open] table tbody tr td strong') && document.querySelector('dialog[open] h2').textContent === 'Measuring sheet' && /^9(\\.0+)?$/.test(document.querySelector('dialog[open] tfoot strong').textContent)")
	w.accessible("a sheet")
	w.does("const [of] = document.querySelectorAll('dialog[open] input'); of.value = 'lots'; of.form.requestSubmit()")
	w.is("an error of the sheet", "document.querySelector('dialog[open] [role=alert]').innerText !== '' && document.getElementById('said').hidden")
	w.does("document.querySelector('dialog[open]').close()")

	w.is("no note of what was cancelled", "!/cancel/i.test(document.getElementById('notes').textContent)")

	// Everything else of the page.
	w.does("document.querySelectorAll('#panel-recipes details').forEach(d => { d.open = true })")
	w.click("#show-text")
	w.click("#map-draw")
	w.click("#taste-begin")
	w.is("all is there", "document.querySelectorAll('#taste button').length === 2 && !document.getElementById('map-box').hidden && document.querySelectorAll('#responses svg').length > 0 && document.getElementById('text').value")
	w.sized("the recipes")
	w.accessible("the recipes on a telephone")
	w.does("document.querySelector('#sections > summary').click()")
	w.is("the sections", "document.getElementById('sections').open || (document.querySelector('#sections > summary').click(), true)")
	w.is("a way to each section", "[...document.querySelectorAll('nav a')].every(a => a.checkVisibility() && (b => b.left >= 0 && b.right <= 360)(a.getBoundingClientRect()))")

	// Tabs are moved between by keyboard, and the open one is there again.
	w.does("document.getElementById('tab-recipes').focus()")
	w.press("ArrowRight", 39)
	w.is("the campaign", "document.activeElement.id === 'tab-campaign' && document.activeElement.getAttribute('aria-selected') === 'true' && document.getElementById('next').checkVisibility() && !document.getElementById('list').checkVisibility()")
	w.does("const i = document.getElementById('next-size'); i.value = '2'; i.dispatchEvent(new Event('input'))")
	if err := chromedp.Do(w.ctx, chromedp.Reload()); err != nil {
		t.Fatal(err)
	}
	w.is("as it was", "document.getElementById('next')?.checkVisibility() && document.getElementById('next-size').value === '2' && document.getElementById('colour-by').value === 'kind'")
	w.click("#next")
	w.is("two recipes", "document.querySelectorAll('#batches .card').length === 2")
	w.is("chances as in the shortlist", "/taste Fresh [<>]?\\d+ % \\(/.test(document.querySelector('#batches .card').textContent) && /so the two differ/.test(document.getElementById('batches').textContent)")
	w.stands("where it stands")
	w.does("document.querySelectorAll('#panel-campaign details').forEach(d => { d.open = true })")
	w.sized("the campaign")
	w.accessible("the campaign on a telephone")
	w.does("document.querySelector('nav a[href=\"#map-section\"]').click()")
	w.is("a link leads out of the campaign", "document.getElementById('map-section').checkVisibility() && document.getElementById('tab-recipes').getAttribute('aria-selected') === 'true'")
}
