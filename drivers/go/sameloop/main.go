// The loop of the driver's blocks, written without it: reads of 10,000 bytes in random order, all of them
// in one transaction, from a warm database. It prints nanoseconds of an operation once a round, by the
// clock, and without the time that the thread waited for a processor.
//
//	sameloop sqlite|bbolt DIRECTORY COUNT OPERATIONS ROUNDS
//
// The database is made where there is none. As in a block, a fourth of the operations come first, untimed.
package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"go.etcd.io/bbolt"
)

const bytes = 10_000

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

// random is a value that compresses badly.
func random() []byte {
	value := make([]byte, bytes)
	for at := 0; at+8 <= len(value); at += 8 {
		binary.LittleEndian.PutUint64(value[at:], rand.Uint64())
	}
	return value
}

// waited is how long this thread was ready and waited for a processor.
func waited() time.Duration {
	text, err := os.ReadFile("/proc/thread-self/schedstat")
	check(err)
	return time.Duration(number(strings.Fields(string(text))[1]))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func sqlite(place string, count int) func(keys []int64) {
	path, ctx := filepath.Join(place, "sameloop.db"), context.Background()
	built := exists(path)
	db, err := sql.Open("sqlite3", path)
	check(err)
	conn, err := db.Conn(ctx)
	check(err)
	run := func(text string, arguments ...any) {
		_, err := conn.ExecContext(ctx, text, arguments...)
		check(err)
	}
	run("PRAGMA page_size=4096")
	run("PRAGMA cache_size=-1953")
	if !built {
		run("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)")
		run("BEGIN")
		for key := 1; key <= count; key++ {
			run("INSERT INTO kv VALUES(?,?)", key, random())
		}
		run("COMMIT")
	}
	read, err := conn.PrepareContext(ctx, "SELECT v FROM kv WHERE k=?")
	check(err)
	return func(keys []int64) {
		run("BEGIN")
		for _, key := range keys {
			var value []byte
			check(read.QueryRowContext(ctx, key).Scan(&value))
			if len(value) != bytes {
				log.Fatalf("value %d has %d bytes", key, len(value))
			}
		}
		run("COMMIT")
	}
}

func bolt(place string, count int) func(keys []int64) {
	path := filepath.Join(place, "sameloop.bolt")
	built := exists(path)
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{MmapFlags: syscall.MAP_POPULATE}) // warm reads find it mapped
	check(err)
	name := []byte("kv")
	key := func(number int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(number)) }
	for first := 1; first <= count && !built; first += 400 {
		check(db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists(name)
			for k := first; err == nil && k < first+400 && k <= count; k++ {
				err = bucket.Put(key(int64(k)), random())
			}
			return err
		}))
	}
	return func(keys []int64) {
		var buffer []byte
		check(db.View(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket(name)
			for _, k := range keys {
				buffer = append(buffer[:0], bucket.Get(key(k))...)
				if len(buffer) != bytes {
					log.Fatalf("value %d has %d bytes", k, len(buffer))
				}
			}
			return nil
		}))
	}
}

func main() {
	runtime.LockOSThread()
	place, count, operations, rounds := os.Args[2], number(os.Args[3]), number(os.Args[4]), number(os.Args[5])
	keys := make([]int64, operations)
	for n, key := range rand.Perm(count)[:operations] {
		keys[n] = int64(key) + 1
	}
	loop := map[string]func(string, int) func([]int64){"sqlite": sqlite, "bbolt": bolt}[os.Args[1]](place, count)
	loop(keys[:operations/4])
	for range rounds {
		start, delay := time.Now(), waited()
		loop(keys)
		took := time.Since(start)
		own := took - (waited() - delay)
		fmt.Println(took.Nanoseconds()/int64(operations), own.Nanoseconds()/int64(operations))
	}
}
