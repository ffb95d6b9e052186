#!/bin/sh
# Starts the service with the memory limits of production, for npm start, the image, and the systemd unit. Arguments are Node options.
set -eu
cd "$(dirname "$0")/.."

# Megabytes of V8's heap. Beside it the process needs about 150 MB, and in a container PostgreSQL may share the limit.
heap=384
for limit in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
  bytes=$(cat "$limit" 2>/dev/null) || continue
  case $bytes in *[!0-9]* | ????????????*) continue ;; esac # "max", or 100 GB and more
  [ $((bytes / 2097152)) -ge "$heap" ] || heap=$((bytes / 2097152))
done

# jemalloc returns freed memory to the system, glibc's allocator keeps it: 15 to 30 MB. preload.cjs removes it again for child processes.
if [ -z "${LD_PRELOAD:-}" ]; then
  for library in /usr/lib/*/libjemalloc.so.2; do
    [ ! -e "$library" ] || export LD_PRELOAD="$library" MALLOC_CONF=narenas:2,dirty_decay_ms:1000,muzzy_decay_ms:0
  done
fi

exec node --max-old-space-size="$heap" --max-semi-space-size=4 "$@" --require ./src/preload.cjs src/server.ts
