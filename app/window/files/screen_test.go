package files

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/model"
	"coffer/app/window/ui"
)

// calls are those with a name, without it.
func (w *world) calls(name string) string {
	w.coffer.Mu.Lock()
	defer w.coffer.Mu.Unlock()
	var found []string
	for _, call := range w.coffer.Calls {
		if rest, ok := strings.CutPrefix(call, name+" "); ok {
			found = append(found, rest)
		}
	}
	return strings.Join(found, "; ")
}

// jobs are the copies that were started.
func (w *world) jobs() []protocol.Job {
	jobs, err := w.coffer.Jobs(context.Background(), w.one.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return jobs
}

// look is what the model does twice a second.
func (w *world) look() { w.model.Look(context.Background()) }

// status changes what the agent says.
func (w *world) status(change func(*protocol.Status)) {
	w.coffer.Mu.Lock()
	change(&w.one.Status)
	w.coffer.Mu.Unlock()
	w.look()
}

// fill puts n files into the container.
func (w *world) fill(n int) {
	w.coffer.Mu.Lock()
	defer w.coffer.Mu.Unlock()
	for i := range n {
		w.one.Put(fmt.Sprintf("/file %d", i), false, 1000)
	}
}

func TestOnlyRowsInSightAreMade(t *testing.T) {
	const n = 20000
	w := newWorld(t, true)
	w.fill(n)
	w.show()
	s := w.screen
	if len(s.items) != n {
		t.Fatalf("%d items", len(s.items))
	}
	limit := int(s.table.Size().Height/rowHeight()) + 2
	if made := len(s.table.slots); made > limit || len(s.table.body.Objects) > limit {
		t.Errorf("%d rows are made for %d in sight", made, limit)
	}
	shown := 0
	bind := s.table.bind
	s.table.bind = func(i int, r *row) { shown++; bind(i, r) }
	s.table.scrollTo(3 * rowHeight())
	if shown != 3 {
		t.Errorf("scrolling by 3 rows fills %d", shown)
	}
	shown = 0
	s.table.reveal(n - 1)
	if shown > limit {
		t.Errorf("a jump to the end fills %d rows", shown)
	}
	if last := s.table.slotOf(n - 1); !last.Visible() || last.name.Text != "file 19999" || last.Position().Y != float32(n-1)*rowHeight() {
		t.Errorf("the last row shows %q at %v", last.name.Text, last.Position())
	}
	shown = 0
	w.key(fyne.KeyUp)
	if shown > 2*limit {
		t.Errorf("a step of the cursor fills %d rows", shown)
	}
}

func TestFirstRowsComeBeforeTheLast(t *testing.T) {
	w := newWorld(t, true)
	more := make(chan struct{})
	w.screen.deps.Backend.Files = streamed{w.coffer, more}
	w.put("b", "c", "folder/")
	w.screen.Shown(w.image)
	w.until("the first rows are there", func() bool { return len(w.screen.items) == 3 })
	if w.screen.load == nil || !w.screen.busy.Visible() || !strings.Contains(w.screen.status.Text, "3 so far") {
		t.Errorf("it does not say that it goes on: %q", w.screen.status.Text)
	}
	w.press(1, 0)
	w.screen.sortBy(bySize) // while it is being listed
	close(more)
	w.listed()
	if got := w.names(); got != "folder c b a" || w.chosen() != "b" {
		t.Errorf("shown %q, chosen %q", got, w.chosen())
	}
	if w.screen.busy.Visible() {
		t.Error("it still says that it goes on")
	}
}

// streamed lists, waits, and lists one more file.
type streamed struct {
	*fake.Coffer
	more chan struct{}
}

func (s streamed) List(ctx context.Context, id, path string, recursive bool, visit func(protocol.Entry) error) error {
	if err := s.Coffer.List(ctx, id, path, recursive, visit); err != nil {
		return err
	}
	select {
	case <-s.more:
	case <-ctx.Done():
		return ctx.Err()
	}
	return visit(protocol.Entry{Path: "/a"})
}

func TestLeavingCancelsTheListing(t *testing.T) {
	w := newWorld(t, true)
	ended := make(chan error, 1)
	w.screen.deps.Backend.Files = watched{streamed{w.coffer, nil}, ended}
	w.screen.Shown(w.image)
	w.until("it is being listed", func() bool { return w.screen.load != nil })
	w.screen.Hidden()
	select {
	case err := <-ended:
		if err != context.Canceled {
			t.Errorf("the listing ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the listing goes on")
	}
	if w.screen.load != nil || len(w.timers) > 0 && w.ring() > 0 {
		t.Error("something waits while the screen is hidden")
	}
}

type watched struct {
	streamed
	ended chan error
}

func (s watched) List(ctx context.Context, id, path string, recursive bool, visit func(protocol.Entry) error) error {
	err := s.streamed.List(ctx, id, path, recursive, visit)
	s.ended <- err
	return err
}

func TestHiddenDoesNothing(t *testing.T) {
	w := newWorld(t, true)
	w.put("a")
	w.show()
	w.screen.Hidden()
	before := w.coffer.Called("List")
	w.status(func(s *protocol.Status) { s.FileSystem.BytesWritten++ })
	w.ring()
	w.shortcut(&fyne.ShortcutSelectAll{})
	if w.coffer.Called("List") != before || w.screen.sel.count != 0 {
		t.Error("a hidden screen lists or hears keys")
	}
	w.put("b")
	w.show() // it is shown again: what was there at once, and then what changed
	w.until("b is there", func() bool { return w.names() == "a b" })
}

func TestMouseAndKeysChoose(t *testing.T) {
	w := newWorld(t, true)
	w.put("a", "b", "c", "d", "e")
	w.show()
	want := func(what, names string) {
		t.Helper()
		if got := w.chosen(); got != names {
			t.Errorf("%s: chosen %q, want %q", what, got, names)
		}
	}
	w.press(1, 0)
	want("click", "b")
	w.press(3, fyne.KeyModifierShift)
	want("shift", "b c d")
	w.press(2, fyne.KeyModifierShortcutDefault)
	want("ctrl", "b d")
	if words := w.screen.status.Text; words != "5 items  ·  2 selected, 6.0 kB" {
		t.Errorf("it says %q", words)
	}
	w.screen.table.slotOf(3).MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonSecondary})
	want("right on what is chosen", "b d")
	w.screen.table.slotOf(4).MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonSecondary})
	want("right elsewhere", "e")
	w.key(fyne.KeyHome)
	want("home", "a")
	w.held = fyne.KeyModifierShift
	w.key(fyne.KeyDown, fyne.KeyDown)
	want("shift and down", "a b c")
	w.held = 0
	w.shortcut(&fyne.ShortcutSelectAll{})
	want("all", "a b c d e")
	w.key(fyne.KeyEscape)
	want("escape", "")
	w.screen.table.TypedRune('D')
	want("a letter", "d")
	w.screen.table.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary})
	want("click below", "")
}

func TestWays(t *testing.T) {
	w := newWorld(t, true)
	w.put("a/", "a/b/", "a/b/c.txt", "z")
	w.show()
	w.screen.table.slotOf(0).DoubleTapped(nil)
	w.listed()
	if w.names() != "b" || w.screen.folder != "/a" {
		t.Fatalf("double click leads to %s with %q", w.screen.folder, w.names())
	}
	w.key(fyne.KeyDown, fyne.KeyReturn)
	w.listed()
	if w.names() != "c.txt" {
		t.Fatalf("enter leads to %s", w.screen.folder)
	}
	w.shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyUp, Modifier: fyne.KeyModifierAlt})
	w.listed()
	if w.screen.folder != "/a" || w.chosen() != "b" {
		t.Errorf("Alt+Up leads to %s with %q chosen, want where one came from", w.screen.folder, w.chosen())
	}
	w.key(fyne.KeyBackspace)
	w.listed()
	w.key(fyne.KeyBackspace) // there is nothing above
	w.listed()
	if w.screen.folder != "/" || w.chosen() != "a" {
		t.Errorf("backspace leads to %s with %q chosen", w.screen.folder, w.chosen())
	}
}

func TestOpensThroughTheDrive(t *testing.T) {
	w := newWorld(t, true)
	w.put("a b.txt")
	w.show()
	w.screen.table.slotOf(0).DoubleTapped(nil)
	w.until("it is opened", func() bool { return len(w.opened) == 1 })
	if want := "file:///drives/photos.img/a%20b.txt"; w.opened[0] != want {
		t.Errorf("opened %s, want %s", w.opened[0], want)
	}
}

func TestWithoutADriveOffersExport(t *testing.T) {
	w := newWorld(t, false)
	w.put("a.txt")
	w.show()
	w.answer = []string{"/home/me"}
	w.key(fyne.KeyDown, fyne.KeyReturn)
	if said := says(w.overlay()); !strings.Contains(said, "no drive") || !strings.Contains(said, "a.txt") {
		t.Fatalf("it says %q", said)
	}
	test.Tap(w.button("Export to…"))
	w.until("a copy is started", func() bool { return w.coffer.Called("StartCopy") == 1 })
	if len(w.opened) > 0 {
		t.Error("it was opened")
	}
}

func TestReadOnly(t *testing.T) {
	w := newWorld(t, true)
	w.put("a")
	w.status(func(s *protocol.Status) { s.ReadOnly = true })
	w.show()
	w.until("it is known", func() bool { return w.screen.container.Status.ReadOnly })
	w.press(0, 0)
	for _, kind := range []actionKind{actNewFolder, actAddFiles, actAddFolder, actRename, actDelete, actCut, actPaste} {
		if w.screen.action(kind).can() {
			t.Errorf("action %d is offered", kind)
		}
		for _, b := range w.screen.action(kind).buttons {
			if !b.Disabled() {
				t.Errorf("the button %q is offered", b.Text)
			}
		}
	}
	if !w.screen.action(actExport).can() {
		t.Error("export is not offered")
	}
	if said := says(w.screen.object); !strings.Contains(said, "Unlocked for reading only") {
		t.Errorf("it does not say why: %q", said)
	}
	w.key(fyne.KeyDelete, fyne.KeyF2)
	if w.overlay() != nil {
		t.Error("keys do what buttons do not")
	}
	if !w.screen.Dropped(fyne.NewPos(10, 10), []string{"/x"}) || len(w.shell.copied) > 0 || !strings.Contains(says(w.overlay()), "Nothing was added") {
		t.Error("a drop is not refused with the reason")
	}
}

func TestProblemStopsChanges(t *testing.T) {
	w := newWorld(t, true)
	w.put("a")
	w.show()
	w.status(func(s *protocol.Status) { s.Problem = "the disk is gone" })
	w.until("it is said", func() bool { return strings.Contains(says(w.screen.object), "The disk is gone.") })
	if w.screen.action(actNewFolder).can() {
		t.Error("changes are offered")
	}
}

func TestDrops(t *testing.T) {
	w := newWorld(t, true)
	w.put("folder/", "file")
	w.show()
	at := func(i int) fyne.Position {
		return fyne.CurrentApp().Driver().AbsolutePositionForObject(w.screen.table).AddXY(30, (float32(i)+0.5)*rowHeight())
	}
	for where, folder := range map[fyne.Position]string{at(0): "/folder", at(1): "/", at(5): "/", fyne.NewPos(2, 2): "/"} {
		w.shell.copied = nil
		if !w.screen.Dropped(where, []string{"/x", "/y"}) || !slices.Equal(w.shell.copied, []string{"photos.img <- [/x /y] -> " + folder}) {
			t.Errorf("dropped at %v: %q, want into %s", where, w.shell.copied, folder)
		}
	}
	w.screen.Shown("")
	if w.screen.Dropped(at(0), []string{"/x"}) {
		t.Error("taken without a container")
	}
}

func TestLockedUnlockedVanished(t *testing.T) {
	w := newWorld(t, true)
	w.put("secret.txt", "folder/")
	if err := w.coffer.Lock(t.Context(), w.one.ID, true); err != nil {
		t.Fatal(err)
	}
	w.look()
	s := w.screen
	s.Shown(w.image)
	says := func(words string) func() bool {
		return func() bool {
			return s.message.Visible() && !s.view.Visible() && strings.Contains(says(s.message), words)
		}
	}
	w.until("it invites to unlock", says("photos is locked"))
	for _, o := range test.LaidOutObjects(s.message) {
		if b, ok := o.(fyne.Tappable); ok {
			b.Tapped(nil)
		}
	}
	if !slices.Equal(w.shell.unlocked, []string{w.image}) {
		t.Errorf("unlocked %q", w.shell.unlocked)
	}
	if !s.Dropped(fyne.NewPos(10, 10), []string{"/x"}) || !slices.Equal(w.shell.copied, []string{"photos.img <- [/x] -> /"}) {
		t.Errorf("dropped on a locked one: %q", w.shell.copied)
	}
	w.unlock(false)
	w.until("files are shown", func() bool { return s.view.Visible() && w.names() == "folder secret.txt" })

	w.press(1, 0)
	s.perform(actProperties)
	if err := w.coffer.Lock(t.Context(), w.one.ID, true); err != nil {
		t.Fatal(err)
	}
	w.look()
	w.until("it is locked while shown", says("photos is locked"))
	if s.items != nil || w.overlay() != nil || strings.Contains(fmt.Sprint(s.table.count, s.chosen(), s.folder), "secret") {
		t.Error("names are still there")
	}
	w.unlock(false)
	w.until("it is unlocked again", func() bool { return s.view.Visible() && len(s.items) == 2 })

	w.status(func(st *protocol.Status) { st.Unresponsive = true })
	w.until("it does not answer", says("does not answer"))
	w.status(func(st *protocol.Status) { st.Unresponsive, st.Ready = false, false })
	w.until("it is being locked", says("One moment"))
	w.status(func(st *protocol.Status) { st.Ready, st.Raw = true, true })
	w.until("it is raw", says("raw device"))
	s.Shown(filepath.Join(t.TempDir(), "gone.img"))
	w.until("it is missing", says("gone is not there"))
	s.Shown("")
	if !says("No container chosen")() {
		t.Error("it does not say that none is chosen")
	}
}

func TestLockedWhileListing(t *testing.T) {
	w := newWorld(t, true)
	w.put("a")
	w.show()
	for _, code := range []protocol.ExitCode{protocol.NoCredential, protocol.InUse} {
		w.coffer.Fail["List"] = fake.Problem(code, "ls: the container is being locked", "")
		w.screen.list(true)
		w.until("it has ended", func() bool { return w.screen.load == nil })
		if w.screen.failed != nil || w.overlay() != nil {
			t.Error("that it was locked meanwhile is told as a failure")
		}
		if w.screen.again == nil {
			t.Error("if it was not locked after all, its files are not shown")
		}
		w.ring()
		w.until("its files are there", func() bool { return w.names() == "a" })
	}
}

func TestFailureIsToldInPlace(t *testing.T) {
	w := newWorld(t, true)
	w.put("sub/", "sub/a")
	w.show()
	w.coffer.Fail["List"] = fake.Problem(protocol.Damaged, "list /sub: chain is broken", "check it")
	w.screen.enter("/sub")
	w.until("it is told", func() bool { return strings.Contains(says(w.screen.hint), "chain is broken.") })
	if w.screen.action(actNewFolder).can() {
		t.Error("a folder that cannot be read can be changed")
	}
	w.key(fyne.KeyF5)
	w.listed()
	w.until("it is there", func() bool { return w.names() == "a" && !w.screen.hint.Visible() })
}

func TestChangesOfOthersAreShown(t *testing.T) {
	w := newWorld(t, true)
	w.fill(200)
	w.show()
	w.screen.table.scrollTo(100*rowHeight() + 5)
	w.press(102, 0)
	w.put("a first one")
	w.status(func(s *protocol.Status) { s.Backing.BytesWritten++ })
	w.until("a listing waits", func() bool { return w.screen.again != nil })
	if w.coffer.Called("List") != 1 {
		t.Error("it is listed at once")
	}
	w.ring()
	w.until("it is there", func() bool { return len(w.screen.items) == 201 })
	if w.chosen() != "file 102" {
		t.Errorf("chosen: %q", w.chosen())
	}
	if top, above := w.screen.table.top(); w.screen.items[top].name != "file 100" || above != 5 {
		t.Errorf("on top is %q, %v above", w.screen.items[top].name, above)
	}
	w.look()
	w.look()
	w.until("what the model says is heard", func() bool { return true })
	if w.screen.again != nil || w.screen.load != nil {
		t.Error("it is listed again though nothing changed")
	}
}

func TestSortByHead(t *testing.T) {
	w := newWorld(t, true)
	w.put("c", "b", "a")
	w.show()
	w.press(0, 0)
	for _, want := range []string{"a b c", "c b a"} {
		test.Tap(w.screen.head.cells[bySize])
		w.until(want, func() bool { return w.names() == want })
	}
	if w.chosen() != "a" || w.screen.sel.cursor != 2 {
		t.Errorf("chosen %q, cursor %d", w.chosen(), w.screen.sel.cursor)
	}
}

func TestHostileNames(t *testing.T) {
	w := newWorld(t, true)
	evil := "photo\u202egpj.exe\x1b[31m\n"
	w.put(evil + "/")
	w.show()
	s := w.screen
	if shown := s.table.slotOf(0).name.Text; strings.ContainsAny(shown, "\u202e\x1b\n") || !strings.Contains(shown, "photo") {
		t.Errorf("shown as %q", shown)
	}
	w.press(0, 0)
	s.perform(actProperties)
	if said := says(w.overlay()); strings.ContainsAny(said, "\u202e\x1b") {
		t.Errorf("properties say %q", said)
	}
	w.key(fyne.KeyEscape)
	s.perform(actDelete)
	if said := says(w.overlay()); strings.ContainsAny(said, "\u202e\x1b") {
		t.Errorf("the question is %q", said)
	}
	w.key(fyne.KeyEscape)
	s.perform(actRename)
	entry := w.shell.window.Canvas().Focused().(*ui.KeyEntry)
	if strings.ContainsAny(entry.Text, "\u202e\x1b\n") {
		t.Errorf("renamed from %q", entry.Text)
	}
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn}) // as it is shown: nothing
	if w.calls("Rename") != "" {
		t.Error("a name was made clean though nobody asked for it")
	}
	s.perform(actRename)
	entry = w.shell.window.Canvas().Focused().(*ui.KeyEntry)
	entry.SetText("clean")
	entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	w.until("it is renamed", func() bool { return w.names() == "clean" })
	if got := w.calls("Rename"); got != "/"+evil+" /clean" {
		t.Errorf("renamed %q", got)
	}
	w.put(evil)
	s.list(false)
	w.listed()
	w.press(1, 0)
	s.perform(actDelete)
	test.Tap(w.button("Delete"))
	w.until("it is gone", func() bool { return w.names() == "clean" })
	if got := w.calls("Remove"); got != strings.TrimSpace("/"+evil) {
		t.Errorf("removed %q", got)
	}
}

func TestSearch(t *testing.T) {
	w := newWorld(t, true)
	w.put("Holidays/", "Holidays/Rome/", "Holidays/Rome/HOLIDAY.jpg", "Holidays/x", "other")
	w.show()
	s := w.screen
	w.shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault})
	if w.shell.window.Canvas().Focused() != s.search {
		t.Fatal("Ctrl+F does not lead to the search")
	}
	test.Type(s.search, "holiday")
	if w.coffer.Called("List") != 1 {
		t.Error("it searches for every letter")
	}
	w.ring()
	w.until("it is found", func() bool { return s.load == nil && w.names() == "Holidays HOLIDAY.jpg" })
	if shown := s.table.slotOf(1).folder.Text; shown != "/Holidays/Rome" {
		t.Errorf("the folder of the result is shown as %q", shown)
	}
	if s.action(actNewFolder).can() {
		t.Error("a new folder among results?")
	}
	w.press(1, 0)
	s.perform(actShow)
	w.until("it is shown in its folder", func() bool { return s.folder == "/Holidays/Rome" && w.chosen() == "HOLIDAY.jpg" })
	if s.search.Text != "" || s.words != "" {
		t.Error("the search has not ended")
	}
	s.search.SetText("nothing")
	w.ring()
	w.listed()
	if said := says(s.hint); !s.hint.Visible() || !strings.Contains(said, "Nothing found") {
		t.Errorf("it says %q", said)
	}
	s.search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	w.listed()
	if s.words != "" || s.search.Text != "" || w.names() != "HOLIDAY.jpg" {
		t.Errorf("escape leads to %q", w.names())
	}
}

func TestSearchIsCancelled(t *testing.T) {
	w := newWorld(t, true)
	w.put("a")
	w.show()
	ended := make(chan error, 4)
	w.screen.deps.Backend.Files = watched{streamed{w.coffer, make(chan struct{})}, ended}
	s := w.screen
	s.search.SetText("a")
	w.ring()
	w.until("results are shown while it goes on", func() bool { return w.names() == "a" && s.load != nil })
	s.search.SetText("ab") // another search
	w.ring()
	if err := <-ended; err != context.Canceled {
		t.Errorf("the first search ended with %v", err)
	}
	w.key(fyne.KeyEscape) // from the list
	if err := <-ended; err != context.Canceled {
		t.Errorf("the second search ended with %v", err)
	}
	if s.words != "" {
		t.Error("escape does not end it")
	}
}

func TestPropertiesCount(t *testing.T) {
	w := newWorld(t, true)
	w.put("in/", "in/a", "in/b", "in/deep/", "in/deep/c", "out")
	w.show()
	w.press(0, 0)
	w.shortcut(&desktop.CustomShortcut{KeyName: fyne.KeyReturn, Modifier: fyne.KeyModifierAlt})
	w.until("it is counted", func() bool { return strings.Contains(says(w.overlay()), "3 files in 2 folders, 10 kB") })
	w.key(fyne.KeyEscape)
	w.screen.sel.none()
	w.screen.perform(actProperties) // of the whole container
	w.until("it is counted", func() bool { return strings.Contains(says(w.overlay()), "4 files in 2 folders, 16 kB") })
}

func TestPropertiesCountIsCancelled(t *testing.T) {
	w := newWorld(t, true)
	w.put("in/", "in/a")
	w.show()
	ended := make(chan error, 1)
	w.screen.deps.Backend.Files = watched{streamed{w.coffer, make(chan struct{})}, ended}
	w.press(0, 0)
	w.screen.perform(actProperties)
	w.until("it counts", func() bool { return strings.Contains(says(w.overlay()), "Counting… 1 file in 1 folder") })
	w.key(fyne.KeyReturn)
	if err := <-ended; err != context.Canceled {
		t.Errorf("the count ended with %v", err)
	}
}

func TestUnlistedContainer(t *testing.T) {
	w := newWorld(t, true)
	w.put("a")
	if err := w.model.Forget(w.image); err != nil {
		t.Fatal(err)
	}
	w.show()
	w.until("it is shown", func() bool { return w.names() == "a" && w.screen.container.State == model.Unlocked })
}

func TestMenuFitsWhatIsChosen(t *testing.T) {
	w := newWorld(t, true)
	w.put("a", "b")
	w.show()
	names := func() string {
		var names []string
		for _, i := range w.screen.menu().Items {
			if !i.IsSeparator && !i.Disabled {
				names = append(names, i.Label)
			}
		}
		return strings.Join(names, " ")
	}
	if got, want := names(), "New folder Add files… Add folder… Select all Refresh Properties"; got != want {
		t.Errorf("nothing chosen: %s, want %s", got, want)
	}
	w.press(0, 0)
	if got, want := names(), "Open Export to… Cut Copy Rename… Delete… Properties"; got != want {
		t.Errorf("one chosen: %s, want %s", got, want)
	}
	w.screen.selectAll()
	if got, want := names(), "Export to… Cut Copy Delete… Properties"; got != want {
		t.Errorf("two chosen: %s, want %s", got, want)
	}
}

func TestAnotherTheme(t *testing.T) {
	w := newWorld(t, true)
	w.put("folder/")
	ui.UseTheme(fyne.CurrentApp(), ui.ThemeLight)
	w.show()
	before := w.shell.window.Canvas().Capture()
	r := w.screen.table.slotOf(0)
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(r.icon).AddXY(r.icon.Size().Width/2, r.icon.Size().Height*0.7)
	light := before.At(int(at.X), int(at.Y))
	w.shell.window.SetContent(widget.NewLabel("the settings"))
	ui.UseTheme(fyne.CurrentApp(), ui.ThemeDark)
	w.shell.window.SetContent(w.screen.Object())
	w.screen.Object().Refresh() // as the window does when it comes back
	after := w.shell.window.Canvas().Capture()
	if dark := after.At(int(at.X), int(at.Y)); dark == light {
		t.Errorf("the icon is still %v", dark)
	}
}
