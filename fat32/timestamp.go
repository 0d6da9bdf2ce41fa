package fat32

import "time"

// stamp is a moment as a directory entry stores it: local time, date and time
// packed (Microsoft FAT specification 1.03, "Date and Time Formats") plus
// hundredths for creation times. The zero date means "not recorded".
type stamp struct {
	date  uint16 // years since 1980 <<9 | month <<5 | day
	clock uint16 // hours <<11 | minutes <<5 | seconds/2
	cents uint8  // 0..199, hundredths of a second added to clock
}

// The representable range, in local time.
const (
	minYear = 1980
	maxYear = 2107
)

// encodeStamp rounds t down to 10 ms and clamps it to 1980..2107 in loc.
func encodeStamp(t time.Time, loc *time.Location) stamp {
	t = t.In(loc)
	year, month, day := t.Date()
	if year < minYear {
		return stamp{date: 1<<5 | 1}
	}
	if year > maxYear {
		return stamp{date: (maxYear-minYear)<<9 | 12<<5 | 31, clock: 23<<11 | 59<<5 | 29, cents: 199}
	}
	hour, minute, second := t.Clock()
	return stamp{
		date:  uint16(year-minYear)<<9 | uint16(month)<<5 | uint16(day),
		clock: uint16(hour)<<11 | uint16(minute)<<5 | uint16(second/2),
		cents: uint8(second%2*100 + t.Nanosecond()/10_000_000),
	}
}

// coarse drops what a modification time cannot hold (two-second steps).
func (s stamp) coarse() stamp { s.cents = 0; return s }

// day drops what an access date cannot hold.
func (s stamp) day() stamp { return stamp{date: s.date} }

// time returns the moment in loc. A date that does not exist (month 0 or 13,
// day 31 of a short month, a clock beyond 23:59:59) gives the zero time: damaged or
// foreign entries must not turn into a plausible wrong date.
func (s stamp) time(loc *time.Location) time.Time {
	year, month, day := int(s.date>>9)+minYear, int(s.date>>5&15), int(s.date&31)
	hour, minute, second := int(s.clock>>11), int(s.clock>>5&63), int(s.clock&31)*2
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 || s.cents > 199 {
		return time.Time{}
	}
	return time.Date(year, time.Month(month), day, hour, minute, second+int(s.cents)/100, int(s.cents)%100*10_000_000, loc)
}

// daysIn returns the length of a month of the years 1980 to 2107.
func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && year != 2100 {
			return 29
		}
		return 28
	}
	return 31
}
