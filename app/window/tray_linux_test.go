package window

import (
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"coffer/app/agent/autolock/logindtest"
)

// TestTrayIsFound: there is a tray when somebody on the session's bus shows icons, not when somebody only keeps a list of them, and
// not without a bus, which is never started for this.
func TestTrayIsFound(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
	if hasTray() {
		t.Error("a tray without a bus")
	}
	address, _ := logindtest.Bus(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	if hasTray() {
		t.Error("a tray on an empty bus")
	}
	bus, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	properties, err := prop.Export(bus, trayPath, prop.Map{trayName: {"IsStatusNotifierHostRegistered": {Value: false, Writable: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bus.RequestName(trayName, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	if hasTray() {
		t.Error("a tray that nobody shows")
	}
	properties.SetMust(trayName, "IsStatusNotifierHostRegistered", true)
	if !hasTray() || !awaitTray(t.Context()) {
		t.Error("the tray is not found")
	}
}
