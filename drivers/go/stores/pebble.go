package stores

import (
	"errors"
	"io"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"stowplan-driver-go/driver"
)

// Pebble keeps the values in a pebble database.
var Pebble = driver.Kind{
	About: driver.Object{
		"name": "pebble", "about": "a pebble database: a log-structured merge tree",
		"engine": []string{"pebble", moduleVersion("github.com/cockroachdb/pebble/v2")},
		"settings": []driver.Object{
			size("cache", 0, 1<<40, 8<<20, "cache of blocks of tables (Cache)"),
			flag("sync", "on", "commits wait for the disk (Sync, NoSync)"),
			flag("disable_wal", "off", "no write-ahead log: new values are lost with the process (DisableWAL)"),
			layout(size("mem_table_size", 1<<16, 1<<30, 4<<20, "memory for new values before they are written to a table (MemTableSize)")),
			layout(choice("compression", "of tables: pebble's DBCompressionFastest, or none", "fastest", "none")),
		},
	},
	// A commit is one record of the log, with a checksum. Without Sync it is in the memory of the process
	// (WriteOptions).
	Can: func(settings map[string]string) driver.Object {
		if settings["sync"] == "off" {
			return lends("consistent", true, 0, false)
		} else if settings["disable_wal"] == "on" {
			return refused("only a log can be synced; take sync=off or disable_wal=off")
		}
		return lends("durable", false, 1, false)
	},
	Open: openPebble,
}

type pebbleEngine struct {
	db      *pebble.DB
	options *pebble.Options
	commit  *pebble.WriteOptions
	reader  interface { // the database, a snapshot of it, or a batch with what is below it
		Get(key []byte) ([]byte, io.Closer, error)
		NewIter(*pebble.IterOptions) (*pebble.Iterator, error)
	}
	writer interface {
		Set(key, value []byte, _ *pebble.WriteOptions) error
		Delete(key []byte, _ *pebble.WriteOptions) error
	}
}

func openPebble(asked driver.Task, settings map[string]string, create bool) (driver.Store, error) {
	path, err := below(asked.Place, "pebble", create)
	if err != nil {
		return nil, err
	}
	e := &pebbleEngine{commit: pebble.NoSync, options: &pebble.Options{
		CacheSize: int64(number(settings, "cache")), DisableWAL: settings["disable_wal"] == "on",
		MemTableSize: uint64(number(settings, "mem_table_size")), ErrorIfExists: create, ErrorIfNotExists: !create,
	}}
	if settings["compression"] == "none" {
		e.options.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	}
	if settings["sync"] == "on" {
		e.commit = pebble.Sync
	}
	e.db, err = pebble.Open(path, e.options)
	return newKV(asked, e), err
}

// begin gives an operation that is alone the database itself.
func (e *pebbleEngine) begin(write, alone bool) error {
	switch e.reader, e.writer = e.db, e.db; {
	case alone:
	case write:
		batch := e.db.NewIndexedBatch()
		e.reader, e.writer = batch, batch
	default:
		e.reader = e.db.NewSnapshot()
	}
	return nil
}

func (e *pebbleEngine) end(commit bool) error {
	switch reader := e.reader.(type) {
	case *pebble.Snapshot:
		return reader.Close()
	case *pebble.Batch:
		if commit {
			if err := reader.Commit(e.commit); err != nil {
				return err
			}
		}
		return reader.Close()
	}
	return nil
}

// get shows a slice of a block or of the memtable.
func (e *pebbleEngine) get(key []byte, show func([]byte)) (bool, error) {
	value, closer, err := e.reader.Get(key)
	if err == pebble.ErrNotFound {
		return false, nil
	} else if err != nil {
		return false, err
	}
	show(value)
	return true, closer.Close()
}

func (e *pebbleEngine) put(key, value []byte) error { return e.writer.Set(key, value, e.commit) }

func (e *pebbleEngine) remove(key []byte) error { return e.writer.Delete(key, e.commit) }

func (e *pebbleEngine) scan(from []byte, rows int, show func([]byte)) error {
	items, err := e.reader.NewIter(nil)
	if err != nil {
		return err
	}
	for there := items.SeekGE(from); there && rows > 0; there = items.Next() {
		show(items.Value())
		rows--
	}
	return items.Close()
}

func (e *pebbleEngine) effective() driver.Object { return driver.Object{} }

// How often the engine is asked whether it compacts, and how often it must deny it in a row.
const poll, denials = 2 * time.Millisecond, 5

// close writes the memtable to a table (where there is no log, in any case), and watches until the
// compactions that follow from it are over.
func (e *pebbleEngine) close(checkpoint bool) (watched time.Duration, err error) {
	if checkpoint || e.options.DisableWAL {
		err = e.db.Flush()
	}
	last := time.Now()
	for quiet := 0; checkpoint && quiet < denials; quiet++ {
		if e.db.Metrics().Compact.NumInProgress > 0 {
			quiet, last = 0, time.Now()
		}
		time.Sleep(poll)
		watched = time.Since(last)
	}
	return watched, errors.Join(err, e.db.Close())
}
