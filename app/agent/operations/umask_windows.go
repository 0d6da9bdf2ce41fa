package operations

// ownUmask: Windows has none.
func ownUmask() int { return -1 }

func setUmask(int) int { return -1 }
