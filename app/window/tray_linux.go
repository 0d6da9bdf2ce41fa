package window

import (
	"context"
	"time"

	"github.com/godbus/dbus/v5"
)

// Names of the notification area on the session bus.
const (
	trayName = "org.kde.StatusNotifierWatcher"
	trayPath = "/StatusNotifierWatcher"
)

// trayPatience is how long a panel that starts together with this program may take.
const (
	trayPatience = 20 * time.Second
	trayStep     = 500 * time.Millisecond
)

// hasTray says whether the desktop has a notification area that shows icons now.
func hasTray() bool {
	bus, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return false
	}
	defer bus.Close()
	if bus.Auth(nil) != nil || bus.Hello() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var shown dbus.Variant
	err = bus.Object(trayName, trayPath).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart,
		trayName, "IsStatusNotifierHostRegistered").Store(&shown)
	there, isBool := shown.Value().(bool)
	return err == nil && isBool && there
}

// awaitTray waits for the notification area of a desktop that is just starting.
func awaitTray(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, trayPatience)
	defer cancel()
	for !hasTray() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(trayStep):
		}
	}
	return true
}
