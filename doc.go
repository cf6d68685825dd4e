// Package kir samples sparse composition ratios: recipes, fragrances, formulations,
// portfolios, anything that divides a fixed whole among a few of many possible
// ingredients.
package kir
