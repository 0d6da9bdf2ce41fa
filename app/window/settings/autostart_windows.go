package settings

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows/registry"
)

// runKey is where Windows keeps what begins when this user logs in.
const (
	runKey  = `Software\Microsoft\Windows\CurrentVersion\Run`
	runName = "Coffer"
)

type runValue struct{}

func systemAutostart() autostart { return runValue{} }

func (runValue) enabled() (bool, error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("start with the session: %w", err)
	}
	defer key.Close()
	_, _, err = key.GetStringValue(runName)
	if errors.Is(err, registry.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (runValue) enable(program string) error {
	key, _, err := registry.CreateKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err != nil {
		return fmt.Errorf("start with the session: %w", err)
	}
	defer key.Close()
	if err := key.SetStringValue(runName, `"`+program+`" `+hiddenFlag); err != nil {
		return fmt.Errorf("start with the session: %w", err)
	}
	return nil
}

func (runValue) disable() error {
	key, err := registry.OpenKey(registry.CURRENT_USER, runKey, registry.SET_VALUE)
	if err == nil {
		defer key.Close()
		err = key.DeleteValue(runName)
	}
	if err != nil && !errors.Is(err, registry.ErrNotExist) {
		return fmt.Errorf("start with the session no more: %w", err)
	}
	return nil
}
