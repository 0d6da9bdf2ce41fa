#!/usr/bin/env python3
"""Prints blocks.tsv: single blocks enciphered by libgcrypt, as hexadecimal: cipher, key, plaintext, ciphertext.

Needs (Debian): libgcrypt20. Keys and plaintexts are SHA-512 of a label, so the file can be made again and compared:

    ./gcrypt.py | diff - blocks.tsv
"""
import ctypes
import hashlib

ALGORITHMS = [  # name, number in gcrypt.h, key bytes, block bytes
    ("aes", 7, 16, 16), ("aes", 8, 24, 16), ("aes", 9, 32, 16),
    ("camellia", 310, 16, 16), ("camellia", 311, 24, 16), ("camellia", 312, 32, 16),
    ("serpent", 304, 16, 16), ("serpent", 305, 24, 16), ("serpent", 306, 32, 16),
    ("twofish", 303, 16, 16), ("twofish", 10, 32, 16),
    ("blowfish", 4, 16, 8), ("3des", 2, 24, 8),
]

lib = ctypes.CDLL("libgcrypt.so.20")
lib.gcry_check_version.restype = ctypes.c_char_p
lib.gcry_check_version(None)


def encipher(number, key, plain):
    handle = ctypes.c_void_p()
    out = ctypes.create_string_buffer(len(plain))
    for error in (
        lib.gcry_cipher_open(ctypes.byref(handle), number, 1, 0),  # 1: ECB
        lib.gcry_cipher_setkey(handle, key, ctypes.c_size_t(len(key))),
        lib.gcry_cipher_encrypt(handle, out, ctypes.c_size_t(len(plain)), plain, ctypes.c_size_t(len(plain))),
    ):
        if error & 0xFFFF:
            raise SystemExit(f"libgcrypt: algorithm {number}: error {error & 0xFFFF}")
    lib.gcry_cipher_close(handle)
    return out.raw


for name, number, key_bytes, block_bytes in ALGORITHMS:
    for i in range(16):
        label = f"{name} {key_bytes} {i}".encode()
        key = hashlib.sha512(b"key " + label).digest()[:key_bytes]
        plain = hashlib.sha512(b"plain " + label).digest()[:block_bytes]
        print(name, key.hex(), plain.hex(), encipher(number, key, plain).hex(), sep="\t")
