// Package stores holds a file for each store.
package stores

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"stowplan-driver-go/driver"
)

// all is every operation that the loop knows.
var all = []string{"read", "overwrite", "insert", "delete", "scan", "mix"}

// setting is one without further ado; one that shapes the stored bytes says so by layout.
func setting(name string, kind any, otherwise, help string) driver.Object {
	return driver.Object{"name": name, "kind": kind, "default": otherwise, "help": help}
}

func layout(setting driver.Object) driver.Object {
	setting["shapes_layout"] = true
	return setting
}

func flag(name, otherwise, help string) driver.Object { return setting(name, "flag", otherwise, help) }

// choice is the first of its words unless said otherwise.
func choice(name, help string, words ...string) driver.Object {
	return setting(name, driver.Object{"choice": words}, words[0], help)
}

func size(name string, least, most, otherwise int, help string) driver.Object {
	kind := driver.Object{"bytes": driver.Object{"min": least, "max": most}}
	return setting(name, kind, strconv.Itoa(otherwise), help)
}

// pageSize is a power of two, and shapes the stored bytes.
func pageSize(least int, help string) driver.Object {
	kind := driver.Object{"bytes": driver.Object{"min": least, "max": 65536, "power_of_two": true}}
	return layout(setting("page_size", kind, "4096", help))
}

// number reads a size.
func number(settings map[string]string, name string) int {
	number, _ := strconv.Atoi(settings[name])
	return number
}

// can are the capabilities of a store that does everything.
func can(class string, delayed bool, syncs int) driver.Object {
	return capable(driver.Object{
		"operations": all, "deliveries": []string{"copy"}, "transactions": true, "syncs_per_commit": syncs,
		"durability": driver.Object{"class": class, "atomic": class != "none", "delayed": delayed},
	})
}

func capable(capabilities driver.Object) driver.Object {
	return driver.Object{"capabilities": capabilities}
}

// refused says why settings exclude each other, and what would do.
func refused(why string) driver.Object { return driver.Object{"refused": why} }

// lends is the same of a store whose values can be looked at where the engine has them.
func lends(class string, delayed bool, syncs int, mapped bool) driver.Object {
	told := can(class, delayed, syncs)
	capabilities := told["capabilities"].(driver.Object)
	capabilities["deliveries"] = []string{"copy", "in-place"}
	capabilities["mapped"] = mapped
	return told
}

// moduleVersion is that of a module, as the program was built.
func moduleVersion(module string) string {
	if info, told := debug.ReadBuildInfo(); told {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return "unknown"
}

// below is the path of a store's file or directory, which is there unless it is to be made.
func below(place, name string, create bool) (string, error) {
	path := filepath.Join(place, name)
	_, err := os.Stat(path)
	switch {
	case create && err == nil:
		return path, fmt.Errorf("%s is there already", path)
	case create:
		return path, os.MkdirAll(place, 0o755)
	case err != nil:
		return path, fmt.Errorf("there is no store: %w", err)
	}
	return path, nil
}
