# Runs inside a Linux kernel with dm-crypt (.ci/umlrun). $1 is a folder with a file "plain" and a file "jobs"; each line of
# jobs is: name, cipher specification, key bits, sector bytes, number of the first sector in units of 512 bytes. NAME.key is
# the key. NAME.cipher becomes what dm-crypt writes for plain.
set -eu
cd "$1"
while read -r name spec bits sector skip; do
    truncate -s "$(stat -c %s plain)" "$name.cipher"
    loop=$(losetup -f --show "$name.cipher")
    cryptsetup open --type plain --cipher "$spec" --key-size "$bits" --key-file "$name.key" --sector-size "$sector" \
        --skip "$skip" "$loop" "job-$name"
    dd if=plain of="/dev/mapper/job-$name" bs=64k conv=fsync status=none
    cryptsetup close "job-$name"
    losetup -d "$loop"
done < jobs
