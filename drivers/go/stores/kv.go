package stores

import (
	"encoding/binary"
	"errors"
	"time"

	"stowplan-driver-go/driver"
)

// engine is a key-value store with one transaction at a time.
type engine interface {
	begin(write, alone bool) error // alone: for one operation
	end(commit bool) error
	get(key []byte, show func([]byte)) (bool, error)
	put(key, value []byte) error
	remove(key []byte) error
	scan(from []byte, rows int, show func([]byte)) error
	effective() driver.Object
	close(checkpoint bool) (watched time.Duration, err error)
}

// kv is a store in an engine. Its keys are eight bytes, the highest first, which sort as numbers do. A
// key is looked up before it is written: put alone would not tell whether it was there.
type kv struct {
	engine
	within  bool // a transaction of several operations
	key     [8]byte
	show    func([]byte) // of the caller
	take    func([]byte)
	buffer  []byte
	touched byte
}

// newKV is a store for a task: what an engine shows of a value is its own memory, which is copied, or, where
// a block wants values in place, touched in each cache line.
func newKV(asked driver.Task, engine engine) *kv {
	s, work := &kv{engine: engine}, asked.Workload
	s.take = s.copy
	if work.Delivery == "in-place" {
		s.take = s.touch
	}
	if (work.Operation == "read" || work.Operation == "scan") && work.Cache == "warm" && !work.FirstTouch {
		populate(asked.Place)
	}
	return s
}

func (s *kv) copy(value []byte) {
	s.buffer = append(s.buffer[:0], value...)
	s.show(value)
}

func (s *kv) touch(value []byte) {
	for at := 0; at < len(value); at += 64 {
		s.touched += value[at]
	}
	s.show(value)
}

func (s *kv) Begin(write bool) error {
	s.within = true
	return s.begin(write, false)
}

func (s *kv) Commit() error {
	s.within = false
	return s.end(true)
}

func (s *kv) Effective() (driver.Object, error) { return s.effective(), nil }

func (s *kv) Close(checkpoint bool) (time.Duration, error) { return s.close(checkpoint) }

// one does an operation on a key, in the transaction that there is, or in one of its own, which is
// committed if the operation says so.
func (s *kv) one(write bool, key uint64, operation func(key []byte) (bool, error)) (bool, error) {
	if !s.within {
		if err := s.begin(write, true); err != nil {
			return false, err
		}
	}
	binary.BigEndian.PutUint64(s.key[:], key)
	done, err := operation(s.key[:])
	if !s.within {
		err = errors.Join(err, s.end(done && err == nil))
	}
	return done, err
}

func ignore([]byte) {}

func (s *kv) Read(key uint64, show func([]byte)) (bool, error) {
	s.show = show
	return s.one(false, key, func(key []byte) (bool, error) { return s.get(key, s.take) })
}

func (s *kv) Insert(key uint64, value []byte) error {
	_, err := s.one(true, key, func(key []byte) (bool, error) {
		found, err := s.get(key, ignore)
		if found {
			err = errors.New("the key is there already")
		}
		if err != nil {
			return false, err
		}
		return true, s.put(key, value)
	})
	return err
}

func (s *kv) Overwrite(key uint64, value []byte) (bool, error) {
	return s.one(true, key, func(key []byte) (bool, error) {
		found, err := s.get(key, ignore)
		if !found || err != nil {
			return false, err
		}
		return true, s.put(key, value)
	})
}

func (s *kv) Delete(key uint64) (bool, error) {
	return s.one(true, key, func(key []byte) (bool, error) {
		found, err := s.get(key, ignore)
		if !found || err != nil {
			return false, err
		}
		return true, s.remove(key)
	})
}

func (s *kv) Scan(from uint64, rows int, show func([]byte)) error {
	s.show = show
	_, err := s.one(false, from, func(key []byte) (bool, error) { return true, s.scan(key, rows, s.take) })
	return err
}
