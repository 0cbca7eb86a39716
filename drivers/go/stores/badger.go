package stores

import (
	"bytes"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"stowplan-driver-go/driver"
)

var badgerDefaults = badger.DefaultOptions("")

// Badger keeps the values in a badger database.
var Badger = driver.Kind{
	About: driver.Object{
		"name": "badger", "about": "a badger database: a log-structured merge tree, large values in a log of their own",
		"engine": []string{"badger", moduleVersion("github.com/dgraph-io/badger/v4")},
		"settings": []driver.Object{
			size("cache", 0, 1<<40, int(badgerDefaults.BlockCacheSize), "cache of blocks of tables (BlockCacheSize); 0 with compression=none only"),
			flag("sync_writes", "off", "commits wait for the disk (SyncWrites)"),
			layout(size("mem_table_size", 1<<20, 1<<30, int(badgerDefaults.MemTableSize),
				"memory for new values before they are written to a table; a transaction has less than 15% of it (MemTableSize)")),
			layout(size("value_threshold", 32, 1<<20, int(badgerDefaults.ValueThreshold),
				"from so many bytes on a value lies in the value log (ValueThreshold)")),
			layout(choice("compression", "of tables (Compression)", "snappy", "zstd", "none")),
		},
	},
	// A commit writes to mapped logs, whose entries have checksums and whose transactions an end; with
	// SyncWrites it syncs first the value log, then that of the memtable (valueLog.write, DB.writeToLSM).
	// Without, badger claims nothing of a power loss, and in which order mapped pages are written is the
	// system's affair.
	Can: func(settings map[string]string) driver.Object {
		if number(settings, "value_threshold") > number(settings, "mem_table_size")*15/100 {
			return refused("a value_threshold above 15% of mem_table_size is refused by badger; take a larger mem_table_size")
		} else if number(settings, "cache") == 0 && settings["compression"] != "none" {
			return refused("badger opens no compressed tables without a cache; take a cache above 0 or compression=none")
		}
		if settings["sync_writes"] == "on" {
			return lends("durable", false, 2, true)
		}
		return lends("process-crash", false, 0, true)
	},
	Open: openBadger,
}

type badgerEngine struct {
	db      *badger.DB
	tx      *badger.Txn
	options badger.Options
	show    func([]byte)
	shown   func([]byte) error // shows; made once
}

func openBadger(asked driver.Task, settings map[string]string, create bool) (driver.Store, error) {
	path, err := below(asked.Place, "badger", create)
	if err != nil {
		return nil, err
	}
	compression := map[string]options.CompressionType{"snappy": options.Snappy, "zstd": options.ZSTD, "none": options.None}
	e := &badgerEngine{options: badger.DefaultOptions(path).
		WithBlockCacheSize(int64(number(settings, "cache"))).
		WithSyncWrites(settings["sync_writes"] == "on").
		WithMemTableSize(int64(number(settings, "mem_table_size"))).
		WithValueThreshold(int64(number(settings, "value_threshold"))).
		WithCompression(compression[settings["compression"]]).
		WithCompactL0OnClose(true).
		WithLoggingLevel(badger.WARNING)}
	e.shown = func(value []byte) error {
		e.show(value)
		return nil
	}
	e.db, err = badger.Open(e.options)
	return newKV(asked, e), err
}

func (e *badgerEngine) begin(write, _ bool) error {
	e.tx = e.db.NewTransaction(write)
	return nil
}

func (e *badgerEngine) end(commit bool) error {
	defer e.tx.Discard()
	if commit {
		return e.tx.Commit() // one that only read has nothing to write
	}
	return nil
}

// get shows a slice of a block, or of a mapped log.
func (e *badgerEngine) get(key []byte, show func([]byte)) (bool, error) {
	item, err := e.tx.Get(key)
	if err == badger.ErrKeyNotFound {
		return false, nil
	} else if err != nil {
		return false, err
	}
	e.show = show
	return true, item.Value(e.shown)
}

// put has a key of its own, because badger keeps it, and the value, until the commit.
func (e *badgerEngine) put(key, value []byte) error {
	return e.explained(e.tx.Set(bytes.Clone(key), value))
}

func (e *badgerEngine) remove(key []byte) error { return e.explained(e.tx.Delete(bytes.Clone(key))) }

func (e *badgerEngine) explained(err error) error {
	if err == badger.ErrTxnTooBig {
		return fmt.Errorf("%w; take fewer operations per transaction or a larger mem_table_size", err)
	}
	return err
}

func (e *badgerEngine) scan(from []byte, rows int, show func([]byte)) error {
	options := badger.DefaultIteratorOptions
	options.PrefetchSize = min(rows, options.PrefetchSize)
	items := e.tx.NewIterator(options)
	defer items.Close()
	e.show = show
	for items.Seek(from); items.Valid() && rows > 0; items.Next() {
		if err := items.Item().Value(e.shown); err != nil {
			return err
		}
		rows--
	}
	return nil
}

func (e *badgerEngine) effective() driver.Object {
	has := e.db.Opts()
	return driver.Object{
		"cache": has.BlockCacheSize, "sync_writes": has.SyncWrites, "mem_table_size": has.MemTableSize,
		"value_threshold": has.ValueThreshold,
	}
}

// close writes the memtable to a table and empties the first level. What compactions are due then are
// awaited in the database that is opened anew, for badger makes them within a second of that, and would
// in the next block.
func (e *badgerEngine) close(checkpoint bool) (time.Duration, error) {
	if err := e.db.Close(); err != nil || !checkpoint {
		return 0, err
	}
	db, err := badger.Open(e.options)
	if err != nil {
		return 0, err
	}
	for due := true; due; {
		due = false
		for _, level := range db.Levels() {
			due = due || level.Score >= 1
		}
		if due {
			time.Sleep(2 * time.Millisecond)
		}
	}
	return 0, db.Close()
}
