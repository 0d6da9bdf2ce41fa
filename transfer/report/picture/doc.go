// Package picture draws the pictures of reports: rates over time, bars with whiskers, and where the time went. Drawings
// are written as svg or png through gonum/plot's canvases; their layout is this package's own, because axes of
// gonum/plot know neither direct labels nor a narrow form for a phone.
//
// Only the canvases and fonts of gonum/plot are used, not its package plot, which parses a dozen fonts at the start of
// every program that links it (../docs/adr-0001-pictures.md).
//
// Colours are told apart by people with any kind of colour vision and in grey print: neighbours differ in lightness, and
// what was published by others is grey and hatched. Labels stand beside what they name.
//
// Nothing here is kept between calls; all functions may be called concurrently.
package picture
