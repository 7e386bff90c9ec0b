# Ends the test engine in directory $1 when nobody has used it for $2 minutes and no user lives.
# $3 is the name of the control group of its containers; $4 is the time between two looks, in seconds.
dir=$1 idle=$2 cgroup=$3 pause=$4

# A zombie still has a directory in /proc, and where nobody reaps it stays.
alive() {
    [ -d "/proc/$1" ] && ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null
}

in_use() {
    [ -n "$(find "$dir/last-used" -mmin "-$idle" 2>/dev/null)" ] && return 0
    for holder in "$dir"/holders/*; do
        alive "${holder##*/}" && return 0
    done
    return 1
}

end_docker() {
    pid=$(cat "$dir/docker.pid" 2>/dev/null) || return 0
    kill "$pid" 2>/dev/null
    for _ in $(seq 150); do
        alive "$pid" || return 0
        sleep 0.2
    done
    kill -9 "$pid" 2>/dev/null
}

end_podman() {
    [ -d "$dir/podman" ] || return 0
    export CONTAINERS_CONF="$dir/podman/containers.conf" CONTAINERS_STORAGE_CONF="$dir/podman/storage.conf"
    podman rm --all --force --time=0
    podman system reset --force
    umount "$dir/podman/root/overlay"
}

# The file in-use tells when the watchdog last found the engine in use.
while sleep "$pause"; do
    [ -d "$dir" ] || exit 0
    if in_use; then
        : >"$dir/in-use"
        continue
    fi
    exec 9>>"$dir/lock" || exit 0
    flock 9
    # The directory may be gone, or be a new one with a watchdog of its own.
    [ "$dir/lock" -ef /proc/self/fd/9 ] || exit 0
    if in_use; then
        exec 9>&-
        continue
    fi
    end_docker
    end_podman
    rm -rf "$dir"
    rmdir "/sys/fs/cgroup/$cgroup" /sys/fs/cgroup/*/"$cgroup" 2>/dev/null
    exit 0
done
