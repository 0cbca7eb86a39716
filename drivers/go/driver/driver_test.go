package driver

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// noted writes down what it is asked.
type noted struct {
	calls      []string
	commitment time.Duration // how long a commit takes
}

func (s *noted) note(format string, arguments ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, arguments...))
}

func (s *noted) Begin(write bool) error { s.note("begin(%v)", write); return nil }
func (s *noted) Commit() error          { s.note("commit"); time.Sleep(s.commitment); return nil }
func (s *noted) Read(key uint64, show func([]byte)) (bool, error) {
	s.note("read")
	show([]byte{1, 2, 3})
	return true, nil
}
func (s *noted) Insert(uint64, []byte) error            { s.note("insert"); return nil }
func (s *noted) Overwrite(uint64, []byte) (bool, error) { s.note("overwrite"); return true, nil }
func (s *noted) Delete(uint64) (bool, error)            { s.note("delete"); return true, nil }
func (s *noted) Scan(_ uint64, most int, show func([]byte)) error {
	for range most {
		show([]byte{1, 2})
	}
	return nil
}
func (s *noted) Effective() (Object, error)        { return nil, nil }
func (s *noted) Close(bool) (time.Duration, error) { return 0, nil }

// done is a block that did steps of some actions, on values of three bytes.
func done(t *testing.T, store *noted, group uint64, actions ...uint16) *block {
	little := binary.LittleEndian
	sequence := append([]byte("STOWSEQ1"), little.AppendUint64(nil, uint64(len(actions)))...)
	for _, action := range actions {
		sequence = little.AppendUint32(little.AppendUint64(sequence, 1), 3)
		sequence = little.AppendUint16(little.AppendUint16(sequence, action), 2)
	}
	path := func(name string, bytes []byte) string {
		path := filepath.Join(t.TempDir(), name)
		check(os.WriteFile(path, bytes, 0o600))
		return path
	}
	values, offsets := path("values", make([]byte, 3)), path("offsets", make([]byte, 8*len(actions)))
	b := &block{Store: store, group: group, mix: true, sequence: mapped[step](path("sequence", sequence), 0),
		values: mapped[byte](values, 0), offsets: mapped[uint64](offsets, 0), latencies: []uint32{}}
	b.show = b.note
	b.steps(0, uint64(len(actions)))
	return b
}

func TestTransactionsAreAsLongAsAskedAndSayWhetherTheyWrite(t *testing.T) {
	for _, c := range []struct {
		group   uint64
		actions []uint16
		calls   string
	}{
		{1, []uint16{read, overwrite}, "read overwrite"},
		{1, []uint16{modify, read}, "begin(true) read overwrite commit read"},
		{2, []uint16{read, read, remove}, "begin(false) read read commit begin(true) delete commit"},
		{2, []uint16{read, insert}, "begin(true) read insert commit"},
		{math.MaxUint64, []uint16{read, read, read}, "begin(false) read read read commit"},
	} {
		store := &noted{}
		done(t, store, c.group, c.actions...)
		if calls := strings.Join(store.calls, " "); calls != c.calls {
			t.Errorf("%d a transaction: %q instead of %q", c.group, calls, c.calls)
		}
	}
}

func TestTheCommitOfAModifyThatIsAloneBelongsToNoOther(t *testing.T) {
	taken := done(t, &noted{commitment: 5 * time.Millisecond}, 1, modify, read).latencies
	if len(taken) != 2 || time.Duration(taken[0]) < 5*time.Millisecond {
		t.Errorf("a modify and the read behind it took %v ns", taken)
	}
}

func TestBytesAreThoseOfScansAlone(t *testing.T) {
	if told := done(t, &noted{}, 2, read, scan, modify, scan, insert).bytes; told != 8 {
		t.Errorf("two scans of two values of two bytes, among others, told %d bytes", told)
	}
}

func TestAnActionThatIsNoneFails(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it was taken for something")
		}
	}()
	done(t, &noted{}, 1, 6)
}
