// The loop of the driver's blocks, written without it: reads of 10,000 bytes in random order, all of them
// in one transaction, from a warm database. It prints nanoseconds of an operation once a round, by the
// clock, and without the time that the thread waited for a processor.
//
//	sameloop sqlite|bbolt FILE COUNT OPERATIONS ROUNDS
//
// FILE is what the driver has made, with values 1 to COUNT: where in memory a file's pages lie is luck when it is
// written, and part of a read's time. As in a block, a fourth of the operations come first, untimed.
package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/mattn/go-sqlite3"
	"go.etcd.io/bbolt"

	_ "stowplan-driver-go/stores" // what is linked in is looked through by each collection of garbage
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

// waited is how long this thread was ready and waited for a processor.
func waited() time.Duration {
	text, err := os.ReadFile("/proc/thread-self/schedstat")
	check(err)
	return time.Duration(number(strings.Fields(string(text))[1]))
}

func sqlite(path string) func(keys []int64) {
	ctx := context.Background()
	db, err := sql.Open("sqlite3", path)
	check(err)
	conn, err := db.Conn(ctx)
	check(err)
	run := func(text string) {
		_, err := conn.ExecContext(ctx, text)
		check(err)
	}
	run("PRAGMA cache_size=-1953")
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

func bolt(path string) func(keys []int64) {
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{MmapFlags: syscall.MAP_POPULATE}) // warm reads find it mapped
	check(err)
	return func(keys []int64) {
		var buffer []byte
		check(db.View(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket([]byte("kv"))
			for _, k := range keys {
				buffer = append(buffer[:0], bucket.Get(binary.BigEndian.AppendUint64(nil, uint64(k)))...)
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
	count, operations, rounds := number(os.Args[3]), number(os.Args[4]), number(os.Args[5])
	keys := make([]int64, operations)
	for n, key := range rand.Perm(count)[:operations] {
		keys[n] = int64(key) + 1
	}
	loop := map[string]func(string) func([]int64){"sqlite": sqlite, "bbolt": bolt}[os.Args[1]](os.Args[2])
	loop(keys[:operations/4])
	for range rounds {
		start, delay := time.Now(), waited()
		loop(keys)
		took := time.Since(start)
		own := took - (waited() - delay)
		fmt.Println(took.Nanoseconds()/int64(operations), own.Nanoseconds()/int64(operations))
	}
}
