#!/bin/sh
# What is left on the machine after programs that do all they can to stay: no process, no file, no
# mount and no cgroup, also when cupel itself is killed.
iso=--isolation=${ISOLATION:-auto} # the tier to attack
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
"$CUPEL" box $iso -- /bin/true </dev/null 2>/dev/null
[ $? = 3 ] && { echo "1..0 # SKIP no isolation"; exit 0; }
wall=$((100 * ${SLOW:-1})) cpu=$((10 * ${SLOW:-1})) # SLOW: how many times slower than usual the machine is
mark=7123$$ # seconds to sleep: names our processes among all others
mounts=$(cat /proc/self/mountinfo)

# processes that sleep for just that time
sleepers() { grep -zlsx "$mark\.$1" /proc/[0-9]*/cmdline; }
# cgroups of servers that live no more
dead_groups() {
	for d in $(find /sys/fs/cgroup -type d -name 'cupel-*.*' 2>/dev/null); do
		p=${d##*/cupel-}
		[ -d "/proc/${p%%.*}" ] || [ -n "$(cat "$d"/slot*/cgroup.procs 2>/dev/null)" ] || echo "$d"
	done
}
gone() { # within 20 s
	i=0
	while [ -n "$(sleepers "$1")" ]; do
		i=$((i + 1))
		[ "$i" -lt 200 ] || return 1
		sleep 0.1
	done
}

stay="trap '' HUP INT TERM
for i in 1 2 3; do setsid sleep $mark.1 & nohup sleep $mark.1 >/dev/null 2>&1 & done
( ( setsid sleep $mark.1 & ) & )
mkdir /tmp/mark$$ /tmp/mark$$/d; echo x >/dev/shm/mark$$; chmod 0 /tmp/mark$$
sleep 0.2; echo started"
ok "daemons start in the box" '"$CUPEL" box $iso --cpu=$cpu --wall=$wall -- /bin/sh -c "$stay" </dev/null 2>/dev/null | grep -q started'
ok "and are gone with it" '[ -z "$(sleepers 1)" ]'
ok "so are its files" '[ -z "$(find /tmp /dev/shm /var/tmp -maxdepth 1 -name "mark$$*" 2>/dev/null)" ]'

"$CUPEL" box $iso --wall=$wall -- /bin/sh -c "setsid sleep $mark.2 & sleep $mark.2" </dev/null >/dev/null 2>&1 &
pid=$!
i=0
while [ "$(sleepers 2 | wc -l)" -lt 2 ] && [ "$i" -lt 200 ]; do i=$((i + 1)); sleep 0.1; done
ok "a program runs" '[ "$(sleepers 2 | wc -l)" = 2 ]'
kill -9 "$pid"
wait "$pid" 2>/dev/null
ok "its processes go when cupel is killed" 'gone 2'
"$CUPEL" box $iso -- /bin/true </dev/null 2>/dev/null
ok "no mount is left" '[ "$(cat /proc/self/mountinfo)" = "$mounts" ]'
ok "no cgroup of a dead server is left" 'i=0; while [ -n "$(dead_groups)" ] && [ "$i" -lt 50 ]; do i=$((i + 1)); sleep 0.1; done; [ -z "$(dead_groups)" ]'
echo "1..$n"
