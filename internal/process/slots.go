package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxSlots is more than a server takes: two for each of a thousand calls at once, as many
// again beside them, and ten thousand that are parked.
const maxSlots = 1 << 15

const slotSize = int64(unsafe.Sizeof(atomic.Int32{}))

// slots is the record of process groups: memory that a lifeline shares with its
// sentinel, so that to note one takes no system call, and what is noted is there
// however the process ends that noted it. Its methods are not for two at once.
type slots struct {
	file   *os.File // what the sentinel gets
	memory []byte
	groups []atomic.Int32 // memory, as what is in it; written whole or not at all
	used   int            // slots behind these have never been used
}

func newSlots() (*slots, error) {
	file, err := sharedMemory(maxSlots * slotSize)
	if err != nil {
		return nil, fmt.Errorf("make the record of process groups: %w", err)
	}
	memory, err := unix.Mmap(int(file.Fd()), 0, int(maxSlots*slotSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("map the record of process groups: %w", err)
	}
	groups := unsafe.Slice((*atomic.Int32)(unsafe.Pointer(unsafe.SliceData(memory))), maxSlots)
	return &slots{file: file, memory: memory, groups: groups}, nil
}

var (
	errNoSlot  = errors.New("there is no such slot")
	errNoGroup = errors.New("no process has such a number")
)

// set fails for a slot that there is not, and for all once they are closed.
func (s *slots) set(slot int, g Group) error {
	switch {
	case s.groups == nil:
		return os.ErrClosed
	case slot < 0 || slot >= len(s.groups):
		return errNoSlot
	case int64(g) != int64(int32(g)):
		return errNoGroup
	}
	s.groups[slot].Store(int32(g))
	s.used = max(s.used, slot+1)
	return nil
}

func (s *slots) has(g Group) bool {
	for i := range s.used {
		if Group(s.groups[i].Load()) == g {
			return true
		}
	}
	return false
}

func (s *slots) close() {
	s.groups, s.used = nil, 0
	_ = unix.Munmap(s.memory)
	s.file.Close()
}

// readSlots returns the groups in a record by slot, 0 where there is none, up to the
// last. With an error they are those that could be read.
func readSlots(record io.ReaderAt) ([]Group, error) {
	data, err := io.ReadAll(io.NewSectionReader(record, 0, maxSlots*slotSize))
	var groups []Group
	last := 0
	for ; int64(len(data)) >= slotSize; data = data[slotSize:] {
		groups = append(groups, Group(int32(binary.NativeEndian.Uint32(data))))
		if groups[len(groups)-1] != 0 {
			last = len(groups)
		}
	}
	if err != nil {
		err = fmt.Errorf("read the record of process groups: %w", err)
	}
	return groups[:last], err
}
