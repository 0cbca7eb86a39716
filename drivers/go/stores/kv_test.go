package stores

import (
	"testing"

	"stowplan-driver-go/driver"
)

// single is an engine that has one value.
type single struct {
	engine
	value []byte
}

func (single) begin(bool, bool) error { return nil }
func (single) end(bool) error         { return nil }

func (s single) get(_ []byte, show func([]byte)) (bool, error) {
	show(s.value)
	return true, nil
}

func TestDeliveringAValueAllocatesNothing(t *testing.T) {
	for _, delivery := range []string{"copy", "in-place"} {
		asked, size := driver.Task{}, 0
		asked.Workload.Delivery = delivery
		s := newKV(asked, single{value: make([]byte, 10_000)})
		show := func(value []byte) { size = len(value) }
		s.show = show
		value := make([]byte, 10_000)
		s.take(value)
		if made := testing.AllocsPerRun(10, func() { s.take(value) }); made > 0 {
			t.Errorf("%s: %v allocations", delivery, made)
		}
		if there, err := s.Read(1, show); !there || err != nil || size != 10_000 || (len(s.buffer) == size) != (delivery == "copy") {
			t.Errorf("%s: %v, %v, %d bytes shown, %d copied", delivery, there, err, size, len(s.buffer))
		}
	}
}
