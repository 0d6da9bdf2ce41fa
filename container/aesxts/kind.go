package aesxts

import (
	"fmt"
	"strings"
)

// kind is one implementation.
type kind int

const (
	kindNone kind = iota
	kindVAES512
	kindVAES
	kindAESNI
	kindARM64
	kindGeneric
)

func (k kind) String() string {
	switch k {
	case kindVAES512:
		return "vaes512"
	case kindVAES:
		return "vaes"
	case kindAESNI:
		return "aesni"
	case kindARM64:
		return "arm64"
	case kindGeneric:
		return "generic"
	}
	return "none"
}

// kinds lists what this build can run on this machine, the fastest first.
func kinds() []kind { return append(asmKinds(), kindGeneric) }

// choose returns the implementation of that name, or the fastest for "".
func choose(name string) (kind, error) {
	list := kinds()
	if name == "" {
		return list[0], nil
	}
	for _, k := range list {
		if k.String() == name {
			return k, nil
		}
	}
	return kindNone, fmt.Errorf("implementation %q cannot run here, these can: %s",
		name, strings.Join(Implementations(), ", "))
}

// Implementations names what can run on this machine, the fastest, which New
// chooses, first. The last one is always "generic".
func Implementations() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.String())
	}
	return names
}
