package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The program under test is the test's own: started with this variable it is the driver.
const asDriver = "STOWPLAN_TEST_DRIVER"

func TestMain(m *testing.M) {
	if os.Getenv(asDriver) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// parent is the other side of a driver that was started.
type parent struct {
	t    *testing.T
	to   io.WriteCloser
	from *bufio.Reader
	wait func() error
}

func start(t *testing.T) *parent {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asDriver+"=1")
	command.Stderr = os.Stderr
	to, _ := command.StdinPipe()
	from, _ := command.StdoutPipe()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	p := &parent{t: t, to: to, from: bufio.NewReader(from), wait: command.Wait}
	p.hears("hello")
	return p
}

func (p *parent) hears(name string) map[string]any {
	p.t.Helper()
	for {
		line, err := p.from.ReadString('\n')
		var word string
		var message map[string]map[string]any
		if json.Unmarshal([]byte(line), &word) == nil && word == name {
			return nil
		}
		if json.Unmarshal([]byte(line), &message); message[name] != nil {
			return message[name]
		}
		if err != nil || message["progress"] == nil {
			p.t.Fatalf("%s was expected, not %q (%v)", name, line, err)
		}
	}
}

// asks says a task, in which the place and the store stand besides the fields.
func (p *parent) asks(name string, fields map[string]any, answer string) map[string]any {
	p.t.Helper()
	line, _ := json.Marshal(map[string]any{name: fields})
	fmt.Fprintf(p.to, "%s\n", line)
	return p.hears(answer)
}

func (p *parent) bye() {
	p.t.Helper()
	fmt.Fprintln(p.to, `"bye"`)
	if err := p.wait(); err != nil {
		p.t.Fatal(err)
	}
}

func write(t *testing.T, path string, chunks ...any) string {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, chunk := range chunks {
		if err := binary.Write(file, binary.LittleEndian, chunk); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// step is a record of a sequence.
type step struct {
	Key          uint64
	Size         uint32
	Action, Rows uint16
}

// bench is a dataset of the values "", "x", "xx", ... under the keys from 1 on, and a place for a store.
type bench struct {
	*testing.T
	directory, store string
}

const values = 50

func value(key uint64, letter string) string { return strings.Repeat(letter, int(key-1)) }

func newBench(t *testing.T, store string) bench {
	b := bench{t, t.TempDir(), store}
	offsets, all := []uint64{0}, ""
	for key := uint64(1); key <= values; key++ {
		all += value(key, "x")
		offsets = append(offsets, uint64(len(all)))
	}
	write(t, b.path("values.bin"), []byte(all))
	write(t, b.path("index.bin"), offsets)
	p := start(t)
	p.asks("create", b.at(nil), "done")
	p.asks("load", b.at(map[string]any{"dataset": b.directory, "first": 1, "count": values}), "done")
	p.asks("rest", map[string]any{"checkpoint": true}, "at-rest")
	p.bye()
	return b
}

func (b bench) path(name string) string { return filepath.Join(b.directory, name) }

func (b bench) at(fields map[string]any) map[string]any {
	at := map[string]any{"store": b.store, "place": b.path("store")}
	for name, field := range fields {
		at[name] = field
	}
	return at
}

// ready has a block of steps made ready, whose values are of a letter, and gives the settings that the engine tells.
func (b bench) ready(p *parent, operation string, perTransaction any, letter string, steps ...step) map[string]any {
	b.Helper()
	all, offsets := "", []uint64{}
	for _, s := range steps {
		offsets = append(offsets, uint64(len(all)))
		all += strings.Repeat(letter, int(s.Size))
	}
	workload := map[string]any{"operation": operation, "per_transaction": perTransaction, "delivery": "copy", "cache": "warm"}
	share := map[string]any{
		"sequence": write(b.T, b.path("sequence"), []byte("STOWSEQ1"), uint64(len(steps)), steps),
		"first":    0, "lead_in": 0, "operations": len(steps), "latencies": b.path("latencies"),
		"payloads": map[string]any{
			"values": write(b.T, b.path("payloads"), []byte(all)), "offsets": write(b.T, b.path("offsets"), offsets)},
	}
	told := p.asks("run", b.at(map[string]any{"workload": workload, "threads": []any{share}}), "ready")
	return told["effective"].(map[string]any)
}

// block times steps and gives the answer.
func (b bench) block(p *parent, operation string, perTransaction any, letter, answer string, steps ...step) map[string]any {
	b.Helper()
	b.ready(p, operation, perTransaction, letter, steps...)
	fmt.Fprintln(p.to, `"go"`)
	return p.hears(answer)
}

// holds compares what another process finds under the keys up to one more than there are.
func (b bench) holds(expected func(key uint64) (value string, there bool)) {
	b.Helper()
	keys := []uint64{}
	for key := uint64(1); key <= values+1; key++ {
		keys = append(keys, key)
	}
	p := start(b.T)
	p.asks("dump", b.at(map[string]any{"keys": write(b.T, b.path("keys"), keys), "to": b.path("dump")}), "done")
	p.bye()
	dump, _ := os.ReadFile(b.path("dump"))
	for _, key := range keys {
		length := binary.LittleEndian.Uint64(dump)
		dump = dump[8:]
		want, there := expected(key)
		if length == 1<<64-1 {
			if there {
				b.Fatalf("there is no value %d", key)
			}
			continue
		}
		if !there || string(dump[:length]) != want {
			b.Fatalf("value %d is %q instead of %q (%v)", key, dump[:length], want, there)
		}
		dump = dump[length:]
	}
}

// spelled is a kind of the driver with its defaults, and others for some.
func spelled(t *testing.T, kind string, others map[string]string) string {
	p := start(t)
	for _, told := range p.asks("describe", map[string]any{}, "described")["kinds"].([]any) {
		about := told.(map[string]any)
		if about["name"] != kind {
			continue
		}
		pairs := []string{}
		settings, _ := about["settings"].([]any)
		for _, setting := range settings {
			name, value := setting.(map[string]any)["name"].(string), setting.(map[string]any)["default"].(string)
			if other, given := others[name]; given {
				value = other
			}
			pairs = append(pairs, name+"="+value)
		}
		return kind + ":" + strings.Join(pairs, ",")
	}
	t.Fatalf("there is no kind %s", kind)
	return ""
}

func TestEveryStoreHoldsWhatWasWrittenForAnotherProcess(t *testing.T) {
	stores := map[string]map[string]string{
		"sqlite": {"journal": "wal", "synchronous": "off"}, "modernc": {"synchronous": "off", "statement": "each"},
		"bbolt": {"no_sync": "on"}, "badger": {"mem_table_size": "1048576", "value_threshold": "32"},
		"pebble": {"sync": "off", "disable_wal": "on"},
	}
	for kind, settings := range stores {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, spelled(t, kind, settings))
			b.holds(func(key uint64) (string, bool) { return value(key, "x"), key <= values })
			p := start(t)
			told := b.block(p, "mix", 2, "y", "measured",
				step{7, 6, 1, 0}, step{7, 6, 0, 0}, step{9, 8, 2, 0}, step{1, 0, 4, 0}, step{51, 3, 3, 0}, step{49, 0, 5, 2})
			if scanned := float64(len(value(49, "x") + value(50, "x"))); told["bytes"] != scanned {
				t.Fatalf("a mix told %v bytes of a scan of %v", told["bytes"], scanned)
			}
			if usage := told["usage"].(map[string]any); told["wall_ns"].(float64) <= 0 || usage["thread_cpu_ns"].(float64) <= 0 {
				t.Fatalf("not timed: %v", told)
			}
			if taken, _ := os.ReadFile(b.path("latencies")); len(taken) != 4*6 {
				t.Fatalf("%d bytes of latencies", len(taken))
			}
			p.asks("rest", map[string]any{"checkpoint": true}, "at-rest")
			p.bye()
			b.holds(func(key uint64) (string, bool) {
				switch key {
				case 7, 9:
					return value(key, "y"), true
				case 51:
					return "yyy", true
				}
				return value(key, "x"), key != 1
			})
		})
	}
}

func TestAnEngineTellsItsSettingsInTheFormInWhichTheyAreAsked(t *testing.T) {
	for kind, settings := range map[string]map[string]string{
		"sqlite": {"page_size": "8192", "cache": "2048000"}, "modernc": {"page_size": "8192", "cache": "2048000"},
		"bbolt": {"page_size": "8192", "no_sync": "on"}, "badger": {"sync_writes": "on", "compression": "none"},
	} {
		spec := spelled(t, kind, settings)
		told, missing := newBench(t, spec).ready(start(t), "read", 1, "x", step{7, 6, 0, 0}), 0
		for pair := range strings.SplitSeq(strings.TrimPrefix(spec, kind+":"), ",") {
			name, asked, _ := strings.Cut(pair, "=")
			expected := any(asked)
			if number, err := strconv.ParseFloat(asked, 64); err == nil {
				expected = number
			} else if asked == "on" || asked == "off" {
				expected = asked == "on"
			}
			if told[name] == nil {
				missing++
			} else if told[name] != expected {
				t.Errorf("%s: %s was asked, %#v is told", kind, pair, told[name])
			}
		}
		if missing > 1 {
			t.Errorf("%s: of %s it tells only %v", kind, spec, told)
		}
	}
}

func TestWhatIsNotAsItShouldBeFailsTheBlock(t *testing.T) {
	wrong := map[string]step{
		"read": {99, 5, 0, 0}, "overwrite": {99, 5, 1, 0}, "delete": {99, 5, 4, 0}, "scan": {99, 0, 5, 3},
		"insert": {7, 6, 3, 0}, "mix": {7, 5, 0, 0}, // a value of 6 bytes
	}
	for _, kind := range []string{"sqlite", "bbolt", "badger", "pebble"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, spelled(t, kind, nil))
			for operation, s := range wrong {
				p := start(t)
				said := b.block(p, operation, 1, "y", "failed", s)["message"].(string)
				if at := fmt.Sprint(s.Key); operation != "insert" && !(strings.HasPrefix(said, kind+": ") && strings.Contains(said, at)) {
					t.Errorf("%s said %q", operation, said)
				}
				p.wait() // the next one wants its locks
			}
			b.holds(func(key uint64) (string, bool) { return value(key, "x"), key <= values })
		})
	}
}

func TestWhatCannotBeIsSaidInWords(t *testing.T) {
	refused := func(kind string, settings map[string]string) bool {
		spec := spelled(t, kind, settings)
		return start(t).asks("describe", map[string]any{"store": spec}, "described")["refused"] != nil
	}
	if !refused("pebble", map[string]string{"disable_wal": "on"}) {
		t.Error("sync=on was not refused without a log")
	}
	if !refused("badger", map[string]string{"cache": "0"}) || refused("badger", map[string]string{"cache": "0", "compression": "none"}) {
		t.Error("a badger without a cache was not refused because of its compression alone")
	}
	nowhere := bench{t, t.TempDir(), spelled(t, "bbolt", nil)}
	for _, at := range []map[string]any{nowhere.at(nil), nowhere.at(map[string]any{"store": "nothing:a=b"})} {
		if said := start(t).asks("dump", at, "failed")["message"]; said == "" || strings.Contains(said.(string), "\n") {
			t.Errorf("it said %q", said)
		}
	}
}

func TestADriverWhoseParentIsGoneEnds(t *testing.T) {
	b := newBench(t, spelled(t, "pebble", map[string]string{"sync": "off"}))
	p := start(t)
	b.block(p, "overwrite", "all", "y", "measured", step{7, 6, 1, 0})
	p.to.Close()
	if err := p.wait(); err != nil {
		t.Fatal(err)
	}
	b.holds(func(key uint64) (string, bool) {
		return value(key, map[bool]string{true: "y", false: "x"}[key == 7]), key <= values
	})
}
