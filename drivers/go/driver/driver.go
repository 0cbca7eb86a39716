// Package driver speaks the protocol of docs/driver-format.md. A program that hosts stores is a call of
// Main with its kinds. What fails in here panics, and Main tells it to the parent.
package driver

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Object is an object of the protocol, as docs/driver.schema.json has it.
type Object = map[string]any

// Kind is a kind of store.
type Kind struct {
	About Object                                  // what describe tells: name, about, settings, ...
	Can   func(settings map[string]string) Object // its "capabilities", or why it is "refused"
	Open  func(asked Task, settings map[string]string, create bool) (Store, error)
}

// Store is one table of values under keys, used by one thread. Outside Begin and Commit each operation is
// a transaction of its own. What show is given holds until it returns.
type Store interface {
	Begin(write bool) error
	Commit() error
	Read(key uint64, show func([]byte)) (found bool, err error)
	Insert(key uint64, value []byte) error               // an error where there is one
	Overwrite(key uint64, value []byte) (bool, error)    // nothing, and false, where there is none
	Delete(key uint64) (bool, error)                     // false where there is none
	Scan(from uint64, rows int, show func([]byte)) error // by rising key
	Effective() (Object, error)                          // settings as the engine tells them
	Close(checkpoint bool) (watched time.Duration, err error)
}

// Task is what a message of the parent may say.
type Task struct {
	Store, Place, Dataset, Keys, To string
	First, Count                    uint64
	Checkpoint, Counting            bool
	Workload                        struct {
		Operation, Delivery, Cache string
		PerTransaction             any    `json:"per_transaction"`
		RowsPerStatement           uint64 `json:"rows_per_statement"`
		FirstTouch                 bool   `json:"first_touch"`
	}
	Threads []struct {
		Sequence, Latencies string
		First, Operations   uint64
		LeadIn              uint64 `json:"lead_in"`
		Payloads            struct{ Values, Offsets string }
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(err error) { must(0, err) }

func say(message any) { check(json.NewEncoder(os.Stdout).Encode(message)) }

// Main holds the conversation on stdin and stdout, in one thread of the system, until the parent says a
// word in place of a task, or is gone.
func Main(tool string, kinds ...Kind) {
	runtime.LockOSThread()
	defer func() {
		if failure := recover(); failure != nil {
			say(Object{"failed": Object{"message": strings.ReplaceAll(fmt.Sprint(failure), "\n", "; ")}})
		}
	}()
	say(Object{"hello": Object{"protocol": "stowplan-driver", "version": 4, "tool": tool}})
	t := talk{kinds: map[string]Kind{}, in: json.NewDecoder(os.Stdin)}
	for _, kind := range kinds {
		t.kinds[kind.About["name"].(string)], t.about = kind, append(t.about, kind.About)
	}
	for message := (json.RawMessage{}); t.in.Decode(&message) == nil && message[0] == '{'; {
		tasks := map[string]Task{}
		check(json.Unmarshal(message, &tasks))
		for name, asked := range tasks {
			say(t.do(name, asked))
		}
	}
	if t.store != nil {
		must(t.store.Close(false))
	}
}

// talk is a conversation: what there is, in the order that it is told in, and the store that is open.
type talk struct {
	kinds map[string]Kind
	about []Object
	in    *json.Decoder
	store Store
}

// do does a task and gives the answer. A spec is kind:setting=value,...
func (t *talk) do(name string, asked Task) any {
	spec, pairs, _ := strings.Cut(asked.Store, ":")
	kind, known := t.kinds[spec]
	if spec != "" && !known {
		panic("there is no store '" + spec + "' here")
	}
	settings := map[string]string{}
	for pair := range strings.SplitSeq(pairs, ",") {
		setting, value, _ := strings.Cut(pair, "=")
		settings[setting] = value
	}
	store := t.store
	switch name {
	case "create", "load", "run", "dump":
		if store == nil {
			store = must(kind.Open(asked, settings, name == "create"))
			t.store = store
		}
	}
	switch name {
	case "describe":
		told := Object{}
		if known {
			told = kind.Can(settings)
		}
		told["kinds"] = t.about
		return Object{"described": told}
	case "create":
	case "load":
		load(store, asked)
	case "run":
		return Object{"measured": run(asked, kind, store, t.in)}
	case "dump":
		dump(store, asked)
	case "inspect": // the parent looks below the place
		return Object{"inspected": Object{}}
	case "rest":
		if t.store = nil; store != nil {
			return Object{"at-rest": Object{"watched_ns": must(store.Close(asked.Checkpoint))}}
		}
	default:
		panic("this driver knows no task '" + name + "'")
	}
	return "done"
}

// mapped is a file in memory as an array of what it holds, little-endian as the machine is.
func mapped[T any](path string, flags int) []T {
	file := must(os.Open(path))
	defer file.Close()
	size := int(must(file.Stat()).Size()) // 0 is no size of a mapping
	bytes := must(unix.Mmap(int(file.Fd()), 0, max(size, 1), unix.PROT_READ, unix.MAP_SHARED|flags))
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), size/int(unsafe.Sizeof(*new(T))))
}

// load inserts values in transactions of some 4 MiB, for a store may hold one in memory.
func load(store Store, asked Task) {
	values, index := mapped[byte](asked.Dataset+"/values.bin", 0), mapped[uint64](asked.Dataset+"/index.bin", 0)
	for key, end := asked.First, asked.First+asked.Count; key < end; {
		check(store.Begin(true))
		for first := key; key < end && index[key-1]-index[first-1]+64*(key-first) < 4<<20; key++ {
			check(store.Insert(key, values[index[key-1]:index[key]]))
		}
		check(store.Commit())
		say(Object{"progress": Object{"done": key - asked.First, "total": asked.Count}})
	}
}

// dump writes the values of keys to a file, each behind its length.
func dump(store Store, asked Task) {
	file := must(os.Create(asked.To))
	out := bufio.NewWriterSize(file, 1<<18)
	put := func(value []byte) {
		check(binary.Write(out, binary.LittleEndian, uint64(len(value))))
		must(out.Write(value))
	}
	check(store.Begin(false))
	for _, key := range mapped[uint64](asked.Keys, 0) {
		if !must(store.Read(key, put)) {
			check(binary.Write(out, binary.LittleEndian, uint64(math.MaxUint64)))
		}
	}
	check(errors.Join(store.Commit(), out.Flush(), file.Close()))
}

const read, overwrite, modify, insert, remove, scan = 0, 1, 2, 3, 4, 5

// step is a record of a sequence, as it lies in the file; the first one there is its head.
type step struct {
	Key          uint64
	Size         uint32
	Action, Most uint16
}

// block is what a block needs, in memory.
type block struct {
	Store
	name              string // of its kind
	sequence          []step
	values            []byte // that are written
	offsets           []uint64
	first, group      uint64 // its first record; operations of a transaction
	mix, anySize      bool
	show              func([]byte)
	rows, size, bytes uint64   // values that a step was shown, their size, and that of all that scans visited
	latencies         []uint32 // nil: they are not wanted
}

// at is a step; behind the last record of the sequence comes its first.
func (b *block) at(n uint64) step { return b.sequence[1+(b.first+n)%uint64(len(b.sequence)-1)] }

func (b *block) note(value []byte) { b.rows, b.size = b.rows+1, b.size+uint64(len(value)) }

// value is what a step writes.
func (b *block) value(n uint64, s step) []byte { return b.values[b.offsets[n]:][:s.Size] }

// one does a step, and tells whether all was as it should be. What reads and writes is one transaction.
func (b *block) one(n uint64, s step) bool {
	switch b.rows, b.size = 0, 0; s.Action {
	case read:
		return must(b.Read(s.Key, b.show)) && (b.size == uint64(s.Size) || b.anySize)
	case overwrite:
		return must(b.Overwrite(s.Key, b.value(n, s)))
	case modify:
		if b.group == 1 {
			check(b.Begin(true))
		}
		s.Action = read
		done := b.one(n, s) && must(b.Overwrite(s.Key, b.value(n, s)))
		if b.group == 1 {
			check(b.Commit())
		}
		return done
	case insert:
		return must(true, b.Insert(s.Key, b.value(n, s)))
	case remove:
		return must(b.Delete(s.Key))
	case scan:
		check(b.Scan(s.Key, int(s.Most), b.show))
		b.bytes += b.size
		return 0 < b.rows && b.rows <= uint64(s.Most)
	}
	panic(fmt.Sprintf("the sequence has a step of kind %d", s.Action))
}

// wrong says what a step met.
func (b *block) wrong(s step) string {
	switch what := fmt.Sprintf("%s: value %d is missing", b.name, s.Key); s.Action {
	case read, modify:
		return fmt.Sprintf("%s, or not of %d bytes", what, s.Size)
	case scan:
		return fmt.Sprintf("%s: a scan from %d on visited %d values instead of 1 to %d", b.name, s.Key, b.rows, s.Most)
	default:
		return what
	}
}

func reads(s step) bool { return s.Action == read || s.Action == scan }

// writes tells whether one of some steps does; where it is no mix, all are alike.
func (b *block) writes(n, end uint64) bool {
	for ; b.mix && n+1 < end && reads(b.at(n)); n++ {
	}
	return !reads(b.at(n))
}

// steps does the steps from one up to another. A latency begins where the one before it ended, or the transaction.
func (b *block) steps(n, to uint64) {
	for last := time.Now(); n < to; {
		end := n + min(b.group, to-n)
		if b.group > 1 {
			check(b.Begin(b.writes(n, end)))
			last = time.Now()
		}
		for ; n < end; n++ {
			if s := b.at(n); !b.one(n, s) {
				panic(b.wrong(s))
			}
			if b.latencies != nil {
				now := time.Now()
				b.latencies, last = append(b.latencies, uint32(min(now.Sub(last), math.MaxUint32))), now
			}
		}
		if b.group > 1 {
			check(b.Commit())
		}
	}
}

// mark shows a tracer where the timed operations begin and end: it asks for a process that is none.
func mark(counting bool, number int) {
	if counting {
		_, _ = unix.Getpriority(unix.PRIO_PROCESS, 1398034263+number)
	}
}

// waited is the second number of a line of schedstat: nanoseconds of waiting for a processor.
func waited(line [80]byte) (delay int64) {
	_, _ = fmt.Sscanf(string(line[:]), "%d %d", new(int64), &delay)
	return delay
}

func cpu(clock int32) time.Duration {
	var now unix.Timespec
	check(unix.ClockGettime(clock, &now))
	return time.Duration(now.Nano())
}

// run times a block.
func run(asked Task, kind Kind, store Store, in *json.Decoder) Object {
	work, share, word := asked.Workload, asked.Threads[0], ""
	if len(asked.Threads) > 1 || work.RowsPerStatement > 1 {
		panic("this driver has one thread, and a statement inserts one row")
	}
	b := &block{Store: store, name: kind.About["name"].(string), sequence: mapped[step](share.Sequence, unix.MAP_POPULATE),
		first: share.First, group: math.MaxUint64, mix: work.Operation == "mix", anySize: kind.About["keeps_nothing"] == true}
	b.show = b.note
	if each, number := work.PerTransaction.(float64); number { // and not "all"
		b.group = uint64(each)
	}
	if share.Payloads.Values != "" {
		b.values = mapped[byte](share.Payloads.Values, unix.MAP_POPULATE)
		b.offsets = mapped[uint64](share.Payloads.Offsets, unix.MAP_POPULATE)
	}
	schedstat, _ := os.Open("/proc/thread-self/schedstat") // not every system tells the delay
	say(Object{"ready": Object{"effective": must(store.Effective())}})
	check(in.Decode(&word)) // "go"
	b.steps(0, share.LeadIn)
	if b.bytes = 0; share.Latencies != "" {
		b.latencies = make([]uint32, 0, share.Operations)
	}
	process, thread := cpu(unix.CLOCK_PROCESS_CPUTIME_ID), cpu(unix.CLOCK_THREAD_CPUTIME_ID)
	var before, after [80]byte // The delay is read within the time, or it could be more than the time.
	start := time.Now()
	_, _ = schedstat.ReadAt(before[:], 0)
	mark(asked.Counting, 0)
	b.steps(share.LeadIn, share.LeadIn+share.Operations)
	mark(asked.Counting, 1)
	delays, _ := schedstat.ReadAt(after[:], 0)
	wall := time.Since(start)
	usage := Object{"thread_cpu_ns": cpu(unix.CLOCK_THREAD_CPUTIME_ID) - thread,
		"process_cpu_ns": cpu(unix.CLOCK_PROCESS_CPUTIME_ID) - process}
	if delays > 0 {
		usage["run_delay_ns"] = waited(after) - waited(before)
	}
	if b.latencies != nil {
		check(os.WriteFile(share.Latencies, must(binary.Append(nil, binary.LittleEndian, b.latencies)), 0o600))
	}
	return Object{"wall_ns": wall, "bytes": b.bytes, "usage": usage}
}
