package schema

// Model is a tree ensemble of another program.
var Model = &Section{
	Name: "a model", ID: "model",
	About: "A model in ONNX, XGBoost's JSON or UBJSON, or LightGBM's text, and one thing that is asked of it: classes, bounds, a direction, or a value to reach.",
	Keys: []Key{
		{"file", text("file"), "", "the model", "{file: model.txt, class: 1, constants: {temperature: 180}}"},
		{"output", text("output"), "the first", "which of its outputs", "{file: model.txt, output: probability, class: 1, constants: {temperature: 180}}"},
		{"class", oneOrMore(text("class"), 1), "", "of a model of classes: one, or any of several", "{file: model.txt, class: [1], constants: {temperature: 180}}"},
		{"at_least", number(), "", "of a number: at least this", "{file: value.txt, at_least: 0.5, constants: {temperature: 180}}"},
		{"at_most", number(), "", "at most this", "{file: value.txt, at_most: 0.5, constants: {temperature: 180}}"},
		{"between", pair(number()), "", "from the first to the second", "{file: value.txt, between: [-1, 2], constants: {temperature: 180}}"},
		{"maximize", either(yes(), link("maximize")), "", "as large as can be, from what scores 0 to what scores 1; `true`: all that the model can say", "{file: value.txt, maximize: true, constants: {temperature: 180}}"},
		{"minimize", either(yes(), link("minimize")), "", "as small as can be", "{file: value.txt, minimize: {from: 2, to: -2}, constants: {temperature: 180}}"},
		{"target", link("target"), "", "best at a value", "{file: value.txt, target: {from: -2, at: 0.5, to: 2}, constants: {temperature: 180}}"},
		{"sd", above(0), "0: a hard bound", "of bounds: how far what is lies from what the model says", "{file: value.txt, at_least: 0.5, sd: 0.2, constants: {temperature: 180}}"},
		{"features", either(named("inputs", item, nil), list(item, 0)), "by their names", "what the model's inputs are, by name or in their order", "{file: value.txt, maximize: true, features: {Gin: {percent: Gin}}, constants: {temperature: 180}}"},
		{"amounts", choice("share", "percent", "units"), "`share`", "what an input is that is called as an ingredient", "{file: value.txt, maximize: true, amounts: percent, constants: {temperature: 180}}"},
		{"constants", named("inputs", oneOrMore(either(number(), choice("missing")), 1), nil), "none", "inputs that are no part of a composition; several values are each tried", "{file: value.txt, maximize: true, constants: {temperature: [150, 180]}}"},
		{"check", text("file"), "none", "a table of the model's own predictions that kir must give, too", "{file: value.txt, maximize: true, constants: {temperature: 180}, check: check.csv}"},
		{"tolerance", atLeast(0), "0.00001", "how far a prediction may be off", "{file: value.txt, maximize: true, constants: {temperature: 180}, check: check.csv, tolerance: 0.001}"},
		floorKey("{file: model.txt, class: 1, constants: {temperature: 180}, floor: 0.01}"),
	},
	need:  []string{"file"},
	one:   []string{"class", "at_least", "at_most", "between", "maximize", "minimize", "target"},
	with:  map[string]string{"tolerance": "check"},
	alone: map[string]string{"sd": "class maximize minimize target"},
}

var item = either(Type{"name", object{"type": "string"}}, link("input"))

// Input is an input of a model that is spelled out.
var Input = &Section{
	Name: "an input", ID: "input", About: "What an input of a model is of a composition.",
	Keys: []Key{
		{"mean", text("attribute"), "", "the mean of an attribute", "{mean: cost}"},
		{"share", ingredients(), "", "what they take of the total, 0 to 1", "{share: {family: citrus}}"},
		{"percent", ingredients(), "", "the same, 0 to 100", "{percent: Gin}"},
		{"units", ingredients(), "", "the same in units", "{units: Gin}"},
		{"presence", ingredients(), "", "1 if any of them is used, else 0", "{presence: Milk}"},
		{"count", ingredients(), "", "how many of them are used", "{count: \"*\"}"},
	},
	one: []string{"mean", "share", "percent", "units", "presence", "count"},
}

// Towards returns the section of a direction with its ends.
func Towards(key string) *Section {
	return map[string]*Section{"maximize": maximize, "minimize": minimize}[key]
}

func towards(key, from, to string) *Section {
	return &Section{
		Name: key, ID: key, About: "A direction with its ends; beyond them the score stays as it is there.",
		Keys: []Key{
			{"from", number(), "", "the value that scores 0", "{from: " + from + ", to: " + to + "}"},
			{"to", number(), "", "the value that scores 1", "{from: " + from + ".5, to: " + to + "}"},
		},
		need: []string{"from", "to"},
	}
}

var maximize, minimize = towards("maximize", "0", "2"), towards("minimize", "2", "-1")
