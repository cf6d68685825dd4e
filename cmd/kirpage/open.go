//go:build js

package main

import (
	"context"
	"embed"
	"net/http"
	"os"

	"kir/internal/problem"
	"kir/internal/report"
	"kir/internal/report/build"
	"kir/internal/run"
	"kir/internal/serve"
)

//go:embed tmpx
var tmpx embed.FS

func open(ctx context.Context) (http.Handler, error) {
	for _, n := range []string{"bar.yaml", "recipes.csv", "kinds.csv"} {
		b, _ := tmpx.ReadFile("tmpx/" + n)
		if err := os.WriteFile("/kir/"+n, b, 0o600); err != nil {
			return nil, err
		}
	}
	o := serve.Options{File: "/kir/bar.yaml"}
	o.Kernel = build.Kernel(nil)
	o.Run = steered
	return serve.Open(ctx, o)
}

func steered(ctx context.Context, p *problem.Problem, dir string, progress func(run.Progress)) (*report.Model, error) {
	spec, err := build.Spec(p, "page")
	if err != nil {
		return nil, err
	}
	store := run.Directory(dir)
	result, err := run.Start(ctx, spec, store, run.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	return build.Model(ctx, p, store, result, "page")
}
