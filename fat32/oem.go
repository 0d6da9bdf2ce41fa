package fat32

// cp437High holds the characters of code page 437 from 0x80 on.
const cp437High = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0"

// cp437 lists them by code.
var cp437 = [128]rune([]rune(cp437High))

// oemRune decodes one character of a short name or label.
func oemRune(c byte) rune {
	if c < 0x80 {
		return rune(c)
	}
	return cp437[c-0x80]
}

// oemByte encodes one character; ok is false if code page 437 has none.
func oemByte(r rune) (c byte, ok bool) {
	if r < 0x80 {
		return byte(r), true
	}
	for i, h := range cp437 {
		if h == r {
			return byte(0x80 + i), true
		}
	}
	return '_', false
}
