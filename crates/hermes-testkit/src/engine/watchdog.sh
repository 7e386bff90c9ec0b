# Ends the test engine in directory $1 when nobody has used it for $2 minutes and no user lives.
# $3 is the name of the control group of its containers.
dir=$1 idle=$2 cgroup=$3

in_use() {
    [ -n "$(find "$dir/last-used" -mmin "-$idle" 2>/dev/null)" ] && return 0
    for holder in "$dir"/holders/*; do
        [ -d "/proc/${holder##*/}" ] && return 0
    done
    return 1
}

while sleep 20; do
    [ -d "$dir" ] || exit 0
    in_use && continue
    exec 9>>"$dir/lock" || exit 0
    flock 9
    # The directory may be gone, or be a new one with a watchdog of its own.
    [ "$dir/lock" -ef /proc/self/fd/9 ] || exit 0
    if in_use; then
        exec 9>&-
        continue
    fi
    if pid=$(cat "$dir/docker.pid" 2>/dev/null); then
        kill "$pid" 2>/dev/null
        while kill -0 "$pid" 2>/dev/null; do sleep 0.2; done
    fi
    if [ -d "$dir/podman" ]; then
        export CONTAINERS_CONF="$dir/podman/containers.conf" CONTAINERS_STORAGE_CONF="$dir/podman/storage.conf"
        podman rm --all --force --time=0
        podman system reset --force
        umount "$dir/podman/root/overlay"
    fi
    rm -rf "$dir"
    rmdir "/sys/fs/cgroup/$cgroup" /sys/fs/cgroup/*/"$cgroup" 2>/dev/null
    exit 0
done
