package vfs

// caseSensitive: the system's cache of names tells upper from lower case.
const caseSensitive = true
