#!/bin/sh
# container.sh COMMAND...: what a container sees of cgroups: its own as the root of the tree.
umount /sys/fs/cgroup && mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"
