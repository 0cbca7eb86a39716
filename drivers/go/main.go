// The driver of Stowplan for what Go programs keep data in. See README.md.
package main

import (
	"runtime"

	"stowplan-driver-go/driver"
	"stowplan-driver-go/stores"
)

func main() {
	driver.Main("stowplan-driver-go, "+runtime.Version(),
		stores.Sqlite, stores.Modernc, stores.Bbolt, stores.Badger, stores.Pebble, stores.Null)
}
