package autolock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// Names of systemd-logind on the system bus (org.freedesktop.login1(5)).
const (
	loginName    = "org.freedesktop.login1"
	loginPath    = dbus.ObjectPath("/org/freedesktop/login1")
	managerFace  = loginName + ".Manager"
	sessionFace  = loginName + ".Session"
	sessionsPath = dbus.ObjectPath("/org/freedesktop/login1/session")
	busName      = "org.freedesktop.DBus"
	propsFace    = busName + ".Properties"
)

// busPatience bounds every call on the bus.
const busPatience = 5 * time.Second

// logind is a connection to the system bus that listens to logind.
type logind struct {
	conn    *dbus.Conn
	cancel  context.CancelFunc // ends the connection
	signals chan *dbus.Signal
	uid     uint32
	owner   string // unique name of logind, the only one whose signals count
	own     map[dbus.ObjectPath]bool

	mu      sync.Mutex
	inhibit *os.File // delays suspend and shutdown while open
}

// connectSystem reaches logind through the system bus, at DBUS_SYSTEM_BUS_ADDRESS or the usual place. A system
// without logind gives an error; it may be started later.
func connectSystem(ctx context.Context) (announcer, error) {
	type result struct {
		l   *logind
		err error
	}
	// The first exchange with the bus knows no time limit.
	done := make(chan result, 1)
	connection, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		l, err := dialLogind(connection)
		done <- result{l, err}
	}()
	timer := time.NewTimer(busPatience)
	defer timer.Stop()
	abandon := func(err error) (announcer, error) {
		cancel()
		go func() {
			if r := <-done; r.err == nil {
				r.l.close()
			}
		}()
		return nil, err
	}
	select {
	case r := <-done:
		if r.err != nil {
			cancel()
			return nil, r.err
		}
		r.l.cancel = cancel
		return r.l, nil
	case <-timer.C:
		return abandon(errors.New("system bus: no answer"))
	case <-ctx.Done():
		return abandon(ctx.Err())
	}
}

// dialLogind connects and asks for the signals. ctx ends the connection.
func dialLogind(ctx context.Context) (*logind, error) {
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx), dbus.WithSignalHandler(dbus.NewSequentialSignalHandler()))
	if err != nil {
		return nil, fmt.Errorf("system bus: %w", err)
	}
	l := &logind{conn: conn, signals: make(chan *dbus.Signal, 64), uid: uint32(os.Getuid()), own: map[dbus.ObjectPath]bool{}}
	conn.Signal(l.signals)
	if err := l.subscribe(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// subscribe asks for the signals, then finds out who logind is: in this order no change of owner is missed.
func (l *logind) subscribe() error {
	ctx, cancel := context.WithTimeout(l.conn.Context(), busPatience)
	defer cancel()
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchSender(busName), dbus.WithMatchInterface(busName), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, loginName)},
		{dbus.WithMatchSender(loginName), dbus.WithMatchInterface(managerFace), dbus.WithMatchObjectPath(loginPath)},
		{dbus.WithMatchSender(loginName), dbus.WithMatchInterface(sessionFace), dbus.WithMatchPathNamespace(sessionsPath)},
		{dbus.WithMatchSender(loginName), dbus.WithMatchInterface(propsFace), dbus.WithMatchMember("PropertiesChanged"),
			dbus.WithMatchArg(0, sessionFace), dbus.WithMatchPathNamespace(sessionsPath)},
	} {
		if err := l.conn.AddMatchSignalContext(ctx, match...); err != nil {
			return fmt.Errorf("system bus: %w", err)
		}
	}
	// Any method starts a logind that is started on demand.
	if err := l.takeInhibitor(ctx); err != nil && !errors.As(err, new(dbus.Error)) {
		return err
	}
	if err := l.conn.BusObject().CallWithContext(ctx, busName+".GetNameOwner", 0, loginName).Store(&l.owner); err != nil {
		return fmt.Errorf("no logind on the system bus: %w", err)
	}
	return nil
}

// takeInhibitor makes suspend and shutdown wait for us. Who may not delay them is told of them all the same, only
// with less time.
func (l *logind) takeInhibitor(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inhibit != nil {
		return nil
	}
	var fd dbus.UnixFD
	err := l.conn.Object(loginName, loginPath).CallWithContext(ctx, managerFace+".Inhibit", 0,
		"sleep:shutdown", "Coffer", "Writing down what is on an unlocked drive", "delay").Store(&fd)
	if err != nil {
		return fmt.Errorf("delay suspend: %w", err)
	}
	l.inhibit = os.NewFile(uintptr(fd), "inhibitor")
	return nil
}

// letGo lets the system go on.
func (l *logind) letGo() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inhibit != nil {
		_ = l.inhibit.Close()
		l.inhibit = nil
	}
}

func (l *logind) close() {
	_ = l.conn.Close()
	if l.cancel != nil {
		l.cancel()
	}
	l.letGo()
}

// serve implements announcer.
func (l *logind) serve(ctx context.Context, events chan<- Event) error {
	defer l.close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case s, ok := <-l.signals:
			if !ok {
				return errors.New("system bus: connection lost")
			}
			if err := l.take(ctx, s, events); err != nil {
				return err
			}
		}
	}
}

// take turns a signal into an event. Anybody on the bus can send a signal straight to us: only logind's count.
func (l *logind) take(ctx context.Context, s *dbus.Signal, events chan<- Event) error {
	if s.Sender == busName && s.Name == busName+".NameOwnerChanged" {
		return errors.New("logind was started anew") // the inhibitor may be gone: begin again
	}
	if s.Sender != l.owner {
		return nil
	}
	switch s.Name {
	case managerFace + ".PrepareForSleep":
		l.prepare(ctx, s, Suspend, events)
	case managerFace + ".PrepareForShutdown":
		l.prepare(ctx, s, Shutdown, events)
	case sessionFace + ".Lock":
		l.screen(ctx, s.Path, true, events)
	case sessionFace + ".Unlock":
		l.screen(ctx, s.Path, false, events)
	case propsFace + ".PropertiesChanged":
		if len(s.Body) < 2 || s.Body[0] != sessionFace {
			break
		}
		changed, _ := s.Body[1].(map[string]dbus.Variant)
		if hint, ok := changed["LockedHint"].Value().(bool); ok {
			l.screen(ctx, s.Path, hint, events)
		}
	}
	return nil
}

// prepare passes on that the machine is about to sleep or to be switched off (true), or that this is over.
func (l *logind) prepare(ctx context.Context, s *dbus.Signal, kind Kind, events chan<- Event) {
	if len(s.Body) != 1 {
		return
	}
	begins, ok := s.Body[0].(bool)
	if !ok {
		return
	}
	if begins {
		// Whatever becomes of the event: the machine is never held up longer.
		timer := time.AfterFunc(flushTime, l.letGo)
		send(ctx, events, Event{Kind: kind, Done: once(func() { timer.Stop(); l.letGo() })})
		return
	}
	call, cancel := context.WithTimeout(ctx, busPatience)
	defer cancel()
	// Without it there is less time the next time, no more.
	_ = l.takeInhibitor(call)
	if kind == Suspend {
		send(ctx, events, Event{Kind: Resume})
	}
}

// screen passes on that the screen of a session was locked, if it is one of this user's.
func (l *logind) screen(ctx context.Context, session dbus.ObjectPath, locked bool, events chan<- Event) {
	if !l.isOwn(ctx, session) {
		return
	}
	kind := ScreenUnlocked
	if locked {
		kind = ScreenLocked
	}
	send(ctx, events, Event{Kind: kind})
}

// isOwn asks once for every session whose it is.
func (l *logind) isOwn(ctx context.Context, session dbus.ObjectPath) bool {
	if own, known := l.own[session]; known {
		return own
	}
	ctx, cancel := context.WithTimeout(ctx, busPatience)
	defer cancel()
	var user dbus.Variant
	err := l.conn.Object(loginName, session).CallWithContext(ctx, propsFace+".Get", 0, sessionFace, "User").Store(&user)
	if err != nil {
		return false // gone already
	}
	fields, _ := user.Value().([]any) // user id, path
	own := false
	if len(fields) > 0 {
		uid, ok := fields[0].(uint32)
		own = ok && uid == l.uid
	}
	if len(l.own) > 256 {
		clear(l.own)
	}
	l.own[session] = own
	return own
}
