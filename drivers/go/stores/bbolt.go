package stores

import (
	"time"

	"go.etcd.io/bbolt"
	"stowplan-driver-go/driver"
)

// Bbolt keeps the values in a bucket of a bbolt database.
var Bbolt = driver.Kind{
	About: driver.Object{
		"name": "bbolt", "about": "a bucket of a bbolt database: a B+tree in a mapped file",
		"engine": []string{"bbolt", moduleVersion("go.etcd.io/bbolt")},
		"settings": []driver.Object{
			flag("no_sync", "off", "commits do not wait for the disk (NoSync)"),
			flag("no_freelist_sync", "off", "free pages are not written, but found when it is opened (NoFreelistSync)"),
			choice("freelist_type", "how free pages are kept in memory (FreelistType)", "array", "hashmap"),
			pageSize(4096, "size of a page (PageSize)"),
		},
	},
	// A commit writes and syncs its pages, then the meta page with its checksum, of which there are two in
	// turn (Tx.Commit, Tx.writeMeta). Without syncs the disk may have the meta page first.
	Can: func(settings map[string]string) driver.Object {
		if settings["no_sync"] == "on" {
			return lends("process-crash", false, 0, true)
		}
		return lends("durable", false, 2, true)
	},
	Open: openBbolt,
}

type bboltEngine struct {
	db     *bbolt.DB
	tx     *bbolt.Tx
	bucket *bbolt.Bucket
}

var bucket = []byte("kv")

func openBbolt(asked driver.Task, settings map[string]string, create bool) (driver.Store, error) {
	path, err := below(asked.Place, "bbolt.db", create)
	if err != nil {
		return nil, err
	}
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{
		Timeout: time.Second, PageSize: number(settings, "page_size"),
		NoSync: settings["no_sync"] == "on", NoFreelistSync: settings["no_freelist_sync"] == "on",
		FreelistType: bbolt.FreelistType(settings["freelist_type"]),
	})
	if err == nil && create {
		err = db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket(bucket)
			return err
		})
	}
	return newKV(asked, &bboltEngine{db: db}), err
}

func (e *bboltEngine) begin(write, _ bool) (err error) {
	if e.tx, err = e.db.Begin(write); err == nil {
		e.bucket = e.tx.Bucket(bucket)
	}
	return err
}

func (e *bboltEngine) end(commit bool) error {
	if commit && e.tx.Writable() {
		return e.tx.Commit()
	}
	return e.tx.Rollback()
}

// get shows a slice of the mapping.
func (e *bboltEngine) get(key []byte, show func([]byte)) (bool, error) {
	value := e.bucket.Get(key)
	if value != nil {
		show(value)
	}
	return value != nil, nil
}

// put keeps the value, not the key, until the commit.
func (e *bboltEngine) put(key, value []byte) error { return e.bucket.Put(key, value) }

func (e *bboltEngine) remove(key []byte) error { return e.bucket.Delete(key) }

func (e *bboltEngine) scan(from []byte, rows int, show func([]byte)) error {
	cursor := e.bucket.Cursor()
	for key, value := cursor.Seek(from); key != nil && rows > 0; key, value = cursor.Next() {
		show(value)
		rows--
	}
	return nil
}

func (e *bboltEngine) effective() driver.Object {
	return driver.Object{
		"no_sync": e.db.NoSync, "no_freelist_sync": e.db.NoFreelistSync, "freelist_type": string(e.db.FreelistType),
		"page_size": e.db.Info().PageSize,
	}
}

// close writes what commits have not waited for.
func (e *bboltEngine) close(checkpoint bool) (time.Duration, error) {
	if checkpoint {
		if err := e.db.Sync(); err != nil {
			return 0, err
		}
	}
	return 0, e.db.Close()
}
