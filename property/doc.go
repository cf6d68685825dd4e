// Package property holds the ready-made wishes: how well a composition fits,
// as a [kir.Property] that scores whole lines as cheaply as its form allows.
package property
