package stores

import (
	"fmt"
	"maps"
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

// spelled is a kind's settings, some of them others than by default.
func spelled(kind driver.Kind, others map[string]string) map[string]string {
	settings := map[string]string{}
	for _, about := range kind.About["settings"].([]driver.Object) {
		settings[about["name"].(string)] = about["default"].(string)
	}
	maps.Copy(settings, others)
	return settings
}

func TestSettingsThatExcludeEachOtherAreRefused(t *testing.T) {
	for _, c := range []struct {
		kind     driver.Kind
		settings map[string]string
		refused  bool
	}{
		{Pebble, map[string]string{"disable_wal": "on"}, true},
		{Badger, map[string]string{"cache": "0"}, true},
		{Badger, map[string]string{"cache": "0", "compression": "none"}, false},
	} {
		if told := c.kind.Can(spelled(c.kind, c.settings))["refused"]; (told != nil) != c.refused {
			t.Errorf("%v: %v", c.settings, told)
		}
	}
}

func TestAnEngineTellsItsSettingsInTheFormInWhichTheyAreAsked(t *testing.T) {
	for name, c := range map[string]struct {
		kind   driver.Kind
		others map[string]string
		told   driver.Object
	}{
		"sqlite":  {Sqlite, map[string]string{"page_size": "8192"}, driver.Object{"page_size": 8192}},
		"modernc": {Modernc, map[string]string{"page_size": "8192"}, driver.Object{"page_size": 8192}},
		"bbolt":   {Bbolt, map[string]string{"no_sync": "on"}, driver.Object{"no_sync": true}},
		"badger":  {Badger, map[string]string{"sync_writes": "on"}, driver.Object{"sync_writes": true}},
	} {
		store, err := c.kind.Open(driver.Task{Place: t.TempDir()}, spelled(c.kind, c.others), true)
		if err != nil {
			t.Fatal(name, err)
		}
		told, err := store.Effective()
		for setting, value := range c.told {
			if fmt.Sprint(told[setting]) != fmt.Sprint(value) {
				t.Errorf("%s tells %s=%v (%v)", name, setting, told[setting], err)
			}
		}
		if _, err := store.Close(false); err != nil {
			t.Error(name, err)
		}
	}
}
