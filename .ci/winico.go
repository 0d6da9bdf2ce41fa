// Command winico writes an icon file of Windows from pictures of several sizes. Usage: go run winico.go ICON.ico PICTURE.png...
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/png"
	"os"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: winico ICON.ico PICTURE.png...")
		os.Exit(2)
	}
	icon, err := pack(os.Args[2:])
	if err == nil {
		err = os.WriteFile(os.Args[1], icon, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "winico:", err)
		os.Exit(1)
	}
}

// pack is a directory of pictures, then the pictures as they are: Windows takes PNG since Vista.
func pack(files []string) ([]byte, error) {
	var directory, pictures bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&directory, binary.LittleEndian, v) // a Buffer takes everything
		}
	}
	put(uint16(0), uint16(1), uint16(len(files))) // reserved, icon, number
	at := 6 + 16*len(files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		picture, err := png.DecodeConfig(bytes.NewReader(raw))
		if err != nil || picture.Width > 256 || picture.Height > 256 {
			return nil, fmt.Errorf("%s: not a PNG of at most 256 by 256: %w", file, err)
		}
		put(uint8(picture.Width), uint8(picture.Height)) // 0 is 256
		put(uint8(0), uint8(0), uint16(1), uint16(32), uint32(len(raw)), uint32(at))
		pictures.Write(raw)
		at += len(raw)
	}
	return append(directory.Bytes(), pictures.Bytes()...), nil
}
