package stores

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// populate enters what is mapped of the files below a directory into the page tables, as a process has
// them that has run for a while. Where the kernel refuses, reads do it.
func populate(directory string) {
	directory, err := filepath.EvalSymlinks(directory)
	maps, unread := os.ReadFile("/proc/self/maps")
	if err != nil || unread != nil {
		return
	}
	for line := range bytes.Lines(maps) {
		var start, end uintptr
		if _, err := fmt.Sscanf(string(line), "%x-%x", &start, &end); err != nil {
			continue
		}
		if bytes.Contains(line, []byte(" "+directory+"/")) {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, end-start, unix.MADV_POPULATE_READ)
		}
	}
}
