# Runs inside a Linux kernel with dm-crypt (.ci/umlrun). $1 is a folder with a file "table", one crypt target for each job,
# with LOOP for the device below, and a file "plain", the plaintext of all. "cipher" becomes what dm-crypt writes for it.
# One device for all, because each takes a second to set up. The keys are no secrets, so they may stand in a table.
set -eu
cd "$1"
truncate -s "$(stat -c %s plain)" cipher
loop=$(losetup -f --show cipher)
sed "s|LOOP|$loop|" table | dmsetup create --noudevsync job
dd if=plain of=/dev/mapper/job bs=1M conv=fsync status=none
dmsetup remove --noudevsync job
losetup -d "$loop"
