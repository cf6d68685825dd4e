package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// breadProblem copies the bread, to be drawn in a moment and made in batches of three.
func breadProblem(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"problem.yaml", "trials.csv"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", "bread", name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if name == "problem.yaml" {
			text += "\nsampler: {warmup: 300, draws: 1000}\nsearch: {effort: 0.2}\ncampaign: {batch: 3, alike: [temperature]}\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "problem.yaml")
}

// TestServeConditions goes through the page of a bread with an oven: conditions are seen on each recipe, kept at a
// value, let go and shown on the map; two rounds are made, with a temperature that was another than the one offered.
func TestServeConditions(t *testing.T) {
	file := breadProblem(t)
	w := &walk{t, browser(t, chromium(t), onlyFonts(t, "Liberation Sans", "fonts-liberation"))}
	if err := chromedp.Do(w.ctx, chromedp.EmulateViewport(1280, 900), chromedp.Navigate(serveProblem(t, file))); err != nil {
		t.Fatal(err)
	}
	w.settled(1)
	set := `[...document.querySelectorAll('#list .card .set')].map(e => e.textContent)`
	w.is("what to set", set+`.length > 3 && `+set+`.every(t => /temperature \d+ °C.* · time \d+ min.* · oven (deck|fan)/.test(t))`)
	w.is("what the draws have", `/temperature \d+ °C \(\d+ to \d+ °C\)/.test(document.getElementById('conditions').textContent) && /oven (deck|fan) [\d.]+ %/.test(document.getElementById('conditions').textContent)`)
	w.does("document.querySelectorAll('#conditions details').forEach(d => { d.open = true })")
	w.fits("conditions", windows(390, 1280), nil)
	w.screenshot("conditions", "answer-section")
	w.is("what changes predictions", `document.getElementById('models-head').textContent === 'How predictions change with amounts and conditions'`)
	w.is("no group to colour by, and nothing else in its list", `document.getElementById('colour-label').hidden && document.getElementById('colour-by').textContent === 'ingredient'`)

	// A menu keeps a category, and a slider a number.
	w.does(`const s = document.querySelector('[data-key="set oven"]'); s.value = '0'; s.dispatchEvent(new Event('change'))`)
	w.settled(2)
	w.is("the deck", set+`.every(t => t.includes('oven deck, kept'))`)
	w.does(`const s = document.querySelector('[data-key="set temperature"]'); s.value = '4'; s.dispatchEvent(new Event('input')); s.dispatchEvent(new Event('change')); s.blur()`)
	w.settled(3)
	w.is("at 210", set+`.length > 0 && `+set+`.every(t => t.includes('temperature 210 °C, kept') && t.includes('oven deck, kept'))`)
	w.is("the slider says so", `document.querySelector('[data-key="set temperature"]').getAttribute('aria-valuetext') === '210 °C'`)
	if text := kirDoes(t, "sample", file, "--set", "oven=deck", "--set", "temperature=210", "-o", filepath.Join(t.TempDir(), "run"), "--quiet"); !strings.Contains(text, "temperature 210 °C (given)") {
		t.Errorf("the command line says %.300s", text)
	}
	w.does(`document.querySelector('[data-key="condition temperature"]').open = true`)
	w.click(`[data-key="free temperature"]`)
	w.settled(4)
	w.click("#map-draw")
	w.is("colours", "!document.getElementById('map-colour-label').hidden && document.getElementById('map-colour').options.length === 4")
	w.does(`const s = document.getElementById('map-colour'); s.value = '0'; s.dispatchEvent(new Event('change'))`)
	w.is("the key", `document.querySelectorAll('#map-key li').length === 3 && /190 °C/.test(document.getElementById('map-key').textContent)`)
	w.accessible("the map by temperature")
	w.screenshot("map", "map-section")

	// A trade-off of liking and of how much butter costs, coloured by the temperature.
	w.does(`import('/js/state.js').then(async m => m.ask({ do: 'text', step: 4, text: (await m.get('/text')).text.replace('constraints:', '  lean: {expression: {formula: share("Butter"), minimize: true}}\ntrade: [liking, lean]\nconstraints:') }))`)
	w.settled(5)
	w.is("a front", `document.querySelectorAll('#front circle').length > 2 && document.querySelector('#front .set').textContent.includes('oven deck, kept')`)
	w.does(`const s = document.querySelector('[data-key="front colour"]'); s.value = 'temperature'; s.dispatchEvent(new Event('change'))`)
	w.is("colours of the front", `document.querySelectorAll('#front .key li').length === 3 && document.querySelector('#front circle').style.fill.startsWith('rgb')`)
	w.accessible("the front by temperature")
	w.screenshot("front", "front")
	w.does(`import('/js/state.js').then(m => m.ask({ do: 'back', step: 4 }))`)
	w.settled(4)

	// Two rounds. The deck is still kept.
	w.opens("campaign")
	w.click("#next")
	w.is("a batch", "document.querySelectorAll('#batches .card').length === 3")
	offered := `[...document.querySelectorAll('#batches .card .set')].map(e => e.textContent)`
	w.is("one temperature", `new Set(`+offered+`.map(t => t.match(/temperature \d+ °C/)[0])).size === 1 && `+offered+`.every(t => t.includes('oven deck'))`)
	w.is("fields", field("B1-1", "temperature")+`.value !== '' && `+field("B1-1", "oven")+`.value === 'deck' && `+field("B1-1", "liking")+`.value === ''`)
	w.stands("the first round")
	w.does(field("B1-1", "temperature") + ".focus(); " + field("B1-1", "temperature") + ".select()")
	w.types("203.5")
	w.does(field("B1-1", "liking") + ".focus()")
	w.types("66")
	w.does(field("B1-2", "liking") + ".focus()")
	w.types("61")
	w.is("recorded", `/liking 66/.test(document.getElementById('status-B1-1').textContent) && /temperature 203.5/.test(document.getElementById('status-B1-1').textContent) && /liking 61/.test(document.getElementById('status-B1-2').textContent)`)
	w.accessible("a batch with conditions")
	w.screenshot("batch", "campaign-section")
	results, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".results.csv")
	if err != nil || !strings.Contains(string(results), ",203.5,") {
		t.Errorf("the results are %s, %v", results, err)
	}
	w.is("what was learnt", `/Best so far: B1-1.*at temperature 203.5 °C/.test(document.getElementById('campaign-best').textContent)`)
	w.stands("the standing")
	w.click("#next")
	w.is("another batch", "document.querySelectorAll('#batches .card').length === 6")
	if text := kirDoes(t, "campaign", file); !strings.Contains(text, "temperature 203.5 °C") {
		t.Errorf("the command line says %.600s", text)
	}
}
