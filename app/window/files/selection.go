package files

// selection is which rows of a list are chosen, and where the cursor is. The zero value is that of an empty list.
type selection struct {
	on     []bool
	count  int
	cursor int // -1: nowhere
	anchor int // where a range begins; -1: nowhere
}

// newSelection is that of n rows with nothing chosen.
func newSelection(n int) selection { return selection{on: make([]bool, n), cursor: -1, anchor: -1} }

// has says whether row i is chosen.
func (s *selection) has(i int) bool { return i >= 0 && i < len(s.on) && s.on[i] }

func (s *selection) set(i int, on bool) {
	if s.on[i] != on {
		s.on[i] = on
		if on {
			s.count++
		} else {
			s.count--
		}
	}
}

// none chooses nothing; the cursor stays.
func (s *selection) none() {
	clear(s.on)
	s.count = 0
}

// all chooses everything.
func (s *selection) all() {
	for i := range s.on {
		s.on[i] = true
	}
	s.count = len(s.on)
	if s.cursor < 0 && s.count > 0 {
		s.cursor, s.anchor = 0, 0
	}
}

// only chooses row i and nothing else.
func (s *selection) only(i int) {
	s.none()
	s.set(i, true)
	s.cursor, s.anchor = i, i
}

// toggle chooses row i, or no more.
func (s *selection) toggle(i int) {
	s.set(i, !s.on[i])
	s.cursor, s.anchor = i, i
}

// extend chooses everything from the anchor to row i and nothing else, or with keep beside what was chosen.
func (s *selection) extend(i int, keep bool) {
	if s.anchor < 0 {
		s.anchor = 0
	}
	if !keep {
		s.none()
	}
	for j := min(s.anchor, i); j <= max(s.anchor, i); j++ {
		s.set(j, true)
	}
	s.cursor = i
}

// click is a click on row i, or, if there is none, beside the rows: with Ctrl, with Shift, or with the button that opens a menu.
func (s *selection) click(i int, ctrl, shift, menu bool) {
	switch {
	case i < 0 || i >= len(s.on):
		s.none()
	case menu && s.on[i]: // the menu is for all that is chosen
	case menu:
		s.only(i)
	case shift:
		s.extend(i, ctrl)
	case ctrl:
		s.toggle(i)
	default:
		s.only(i)
	}
}

// step moves the cursor by delta rows and chooses where it comes to; with extend, everything from the anchor to there.
func (s *selection) step(delta int, extend bool) {
	if len(s.on) == 0 {
		return
	}
	to := s.cursor + delta
	if s.cursor < 0 { // the first key press enters the list
		to = 0
		if delta < 0 {
			to = len(s.on) - 1
		}
	}
	to = min(max(to, 0), len(s.on)-1)
	if extend {
		s.extend(to, false)
		return
	}
	s.only(to)
}

// rows are the chosen ones, in order.
func (s *selection) rows() []int {
	rows := make([]int, 0, s.count)
	for i, on := range s.on {
		if on {
			rows = append(rows, i)
		}
	}
	return rows
}

// moved is the selection of the same files in another list of them.
func (s *selection) moved(before, after []*item) selection {
	to := newSelection(len(after))
	if s.count == 0 && s.cursor < 0 {
		return to
	}
	chosen := make(map[string]bool, s.count)
	for _, i := range s.rows() {
		chosen[before[i].Path] = true
	}
	at := func(i int) string {
		if i < 0 || i >= len(before) {
			return ""
		}
		return before[i].Path
	}
	cursor, anchor := at(s.cursor), at(s.anchor)
	for i, one := range after {
		if chosen[one.Path] {
			to.set(i, true)
		}
		if one.Path == cursor {
			to.cursor = i
		}
		if one.Path == anchor {
			to.anchor = i
		}
	}
	if to.cursor < 0 && cursor != "" && len(after) > 0 { // it is gone: stay about there
		to.cursor = min(s.cursor, len(after)-1)
	}
	if to.anchor < 0 {
		to.anchor = to.cursor
	}
	return to
}
