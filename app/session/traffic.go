package session

// ImageTraffic is how many bytes of the image file have been read and written since it was opened.
func (d *Device) ImageTraffic() (read, written int64) { return d.container.ImageTraffic() }
