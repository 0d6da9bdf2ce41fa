package aesxts

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

func (k kind) available() bool {
	for _, have := range kinds() {
		if k == have {
			return true
		}
	}
	return false
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
