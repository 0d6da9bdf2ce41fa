package health

import (
	"strings"
	"testing"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
)

// TestNotClosed: a container whose process was killed is told calmly, and offers no repair that nothing needs.
func TestNotClosed(t *testing.T) {
	k, s, _ := desk(t, true)
	for _, c := range []struct {
		findings     []client.Finding
		traces       string
		dialog, page string
		repair       bool
	}{
		{[]client.Finding{{Code: "dirty"}, {Code: "free-count"}}, client.NotClosed, "nothing is damaged", "It was not closed properly the last time", false},
		{[]client.Finding{{Code: "dirty"}, {Code: "lost-chain"}}, client.Interrupted, "No finished file is damaged", "It was not closed properly the last time", false},
		{[]client.Finding{{Code: "dirty"}, {Code: "cross-link"}}, "", "2 things are wrong", "A check found 2 things wrong", true},
		{[]client.Finding{{Code: "lost-chain"}}, "", "One thing is wrong", "A check found one thing wrong", true},
	} {
		change(k, func() {
			k.Coffer.Checked = found(false, false, c.findings...)
			k.Coffer.Checked.Check.Traces = c.traces
		})
		fail(k, "Check", fake.Problem(protocol.Damaged, "check photos.img: damaged", ""))
		k.Tap("Check…")
		k.Tap("Check")
		k.Until("the outcome shows", func() bool { return k.Says(c.dialog) })
		if got := k.Says("[Repair…]"); got != c.repair {
			t.Errorf("%v: a repair is offered: %v", c.findings, got)
		}
		k.Tap("Close")
		k.Until("the screen tells too", func() bool { return k.Says(c.page) })
		if !c.repair && k.Says("wrong") {
			t.Errorf("%v alarms: %q", c.findings, k.Texts())
		}
		delete(s.checks, s.image)
	}
}

// TestPlainImage: a file system that is not encrypted is checked and saved as any other, without a password.
func TestPlainImage(t *testing.T) {
	k, s, one := desk(t, false)
	change(k, func() {
		one.Format = "raw"
		k.Coffer.Checked = found(true, true)
	})
	s.load()
	k.Until("it is no container", func() bool { return k.Says("no container that Coffer can open") })
	k.Tap("Take it as one")
	k.Until("it is taken as one", func() bool { return k.Says("It is not encrypted") })
	for _, label := range []string{"[Back up…]", "[Restore…]", "[Destroy…]", "[Change…]"} {
		if k.Says(label) {
			t.Errorf("%s is offered for what has no keys", label)
		}
	}
	k.Button("Repair…")
	k.Tap("Check…")
	if len(entries(k)) != 0 {
		t.Error("a password is asked for that there is not")
	}
	k.Tap("Check")
	k.Until("the outcome shows", func() bool { return k.Says("Nothing is wrong") })
	if got := calls(k, "Check"); len(got) != 1 || !strings.HasSuffix(got[0], " raw") {
		t.Errorf("calls: %q", got)
	}
}
