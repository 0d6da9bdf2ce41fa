package config

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/adrg/xdg"
	"golang.org/x/sys/windows"
)

// runtimeFolder is in the user's own local data, which Windows does not carry to other computers.
func runtimeFolder() string {
	if xdg.StateHome == "" {
		return ""
	}
	return filepath.Join(xdg.StateHome, "coffer", "run")
}

// ownerOnly is a protected list of rights: this user and the system, inherited by everything inside.
func ownerOnly() (*windows.SECURITY_DESCRIPTOR, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("who is this user: %w", err)
	}
	sid := user.User.Sid.String()
	return windows.SecurityDescriptorFromString(fmt.Sprintf("D:P(A;OICI;FA;;;%s)(A;OICI;FA;;;SY)", sid))
}

// protectFolder gives the folder to this user and the system alone.
func protectFolder(path string) error {
	descriptor, err := ownerOnly()
	if err != nil {
		return err
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
}

// checkOwner compares the owner. Administrators' files belong to their group, of which this user is then a member.
func checkOwner(path string, _ fs.FileInfo) error {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("owner of %s: %w", path, err)
	}
	owner, _, err := descriptor.Owner()
	if err != nil {
		return fmt.Errorf("owner of %s: %w", path, err)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("who is this user: %w", err)
	}
	if owner.Equals(user.User.Sid) {
		return nil
	}
	if member, err := windows.Token(0).IsMember(owner); err != nil || !member {
		return fmt.Errorf("%s belongs to another user", path)
	}
	return nil
}
