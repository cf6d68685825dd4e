package main

func saveFigure(string, []*oracle, []string, map[string]*record, int) error { return nil }
