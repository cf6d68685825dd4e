package view

import (
	"os"
	"testing"

	"kir/internal/testonly/testmode"
)

func TestMain(m *testing.M) {
	testmode.CollectRarely()
	os.Exit(m.Run())
}
