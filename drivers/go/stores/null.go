package stores

import (
	"time"

	"stowplan-driver-go/driver"
)

// Null does nothing: what Go's own loop costs.
var Null = driver.Kind{
	About: driver.Object{"name": "null", "about": "does nothing: what Go's own loop costs", "keeps_nothing": true},
	Can: func(map[string]string) driver.Object {
		return capable(driver.Object{"operations": []string{"read", "overwrite", "insert"}, "transactions": true})
	},
	Open: func(driver.Task, map[string]string, bool) (driver.Store, error) { return null{}, nil },
}

type null struct{}

func (null) Begin(bool) error { return nil }
func (null) Commit() error    { return nil }

func (null) Insert(uint64, []byte) error                 { return nil }
func (null) Overwrite(uint64, []byte) (bool, error)      { return true, nil }
func (null) Delete(uint64) (bool, error)                 { return true, nil }
func (null) Scan(uint64, int, func([]byte)) error        { return nil }
func (null) Effective() (driver.Object, error)           { return driver.Object{}, nil }
func (null) Close(bool) (watched time.Duration, e error) { return 0, nil }

func (null) Read(_ uint64, show func([]byte)) (bool, error) {
	show(nil)
	return true, nil
}
