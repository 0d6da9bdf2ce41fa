# Runs inside a Linux kernel with dm-crypt (.ci/umlrun). $1 is a folder:
#   ours-*.img    opened; the decrypted payload goes through sha256sum into ours-*.sum
#   theirs-*.img  opened; theirs-*.plain is written into the payload
# The passphrase is in $1/pw.
set -eu
cd "$1"
for img in ours-*.img theirs-*.img; do
    name=${img%.img}
    loop=$(losetup -f --show "$img")
    cryptsetup open --key-file pw "$loop" "$name"
    case $name in
    ours-*) sha256sum < "/dev/mapper/$name" > "$name.sum" ;;
    theirs-*) dd if="$name.plain" of="/dev/mapper/$name" bs=64k conv=fsync status=none ;;
    esac
    cryptsetup close "$name"
    losetup -d "$loop"
done
