#!/bin/sh
# guest.sh BUILD [RUN...] - process 1 of the virtual machine of scripts/vm.sh: mounts what a system
# has, cgroup 2 alone, and runs the tests of boxes in the places of the tree where cupel may find
# itself. What begins with 'vm: ' is for the user; 'vm: sum PASSED FAILED SKIPPED' is added up.
export PATH=/usr/sbin:/usr/bin HOME=/tmp LC_ALL=C
cd /cupel || exit 1
O=$1
shift
only=" $* "
export BUILD="$O" B="${O##*/}" CUPEL="/cupel/$O/cupel" LIMIT=400 SLOW=60 LOG=/tmp/check.log
cg=/sys/fs/cgroup
short="tests/cli/box.sh tests/attack/box_left.sh"
long="$O/tests/test_box $O/tests/test_box_limits $O/tests/test_box_zygote $short tests/vm/judge.sh"
say() { echo "vm: $*"; }

mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /dev/shm /dev/pts
mount -t devpts devpts /dev/pts
for d in /dev/shm /tmp /run /var/tmp; do mount -t tmpfs -o mode=1777 tmpfs $d; done
mount -t cgroup2 cgroup2 $cg || say "cgroup 2 cannot be mounted"
ln -sf /proc/self/fd /dev/fd
[ "$(stat -c %u /usr/bin)" = 0 ] || chown -R -h 0:0 /usr /etc /cupel

# inside FOLDER USER COMMAND...: in that cgroup, as that user; $with: a command to run it by
inside() {
	at=$cg$1 who=$2
	shift 2
	sh -c 'f=$1 u=$2; shift 2; echo 0 >"$f/cgroup.procs" || exit 9
		[ "$u" != root ] || exec "$@"
		exec setpriv --reuid="$u" --regid="$u" --clear-groups "$@"' - "$at" "$who" $with "$@"
}

# run NUMBER NAME USER FOLDER ISOLATION TEST...: doctor must find that isolation, the tests must
# pass, and nothing may be left.
run() {
	case $only in '  ' | *" $1 "*) ;; *) return ;; esac
	name="$1 $2" user=$3 folder=$4 want=$5
	shift 5
	p=0 f=0 s=0
	read -r start _ </proc/uptime
	rm -f $LOG
	say "== $name: $user in cgroup $folder"
	inside "$folder" "$user" "$CUPEL" doctor >/tmp/doctor 2>&1
	if grep -q "^isolation  *$want" /tmp/doctor; then p=1; else f=1; fi
	say "doctor $(sed -n '/^isolation\|^missing/p' /tmp/doctor) $([ $f = 0 ] || cat /tmp/doctor)"
	[ $# = 0 ] || inside "$folder" "$user" sh scripts/check.sh "$@" 2>&1 |
		tee /tmp/out | sed -u 's/^/vm:   /'
	[ $# = 0 ] || sed -nE '$s/ (passed|failed|skipped),?//gp' /tmp/out >/tmp/sum
	[ $# = 0 ] || read -r a b c </tmp/sum || { a=0 b=1 c=0; }
	[ $# = 0 ] || { p=$((p + a)) f=$((f + b)) s=$((s + c)); }
	rm -rf $LOG
	left=$(find $cg -type d -name 'cupel-*')$(pgrep -l cupel)$(grep -h cupel /proc/mounts)
	left="$left$(ls -A /tmp/ /dev/shm /var/tmp | grep -Ev '^(doctor|out|sum|/.*)$')"
	if [ -z "$left" ]; then p=$((p + 1)); else f=$((f + 1)); say "left: $left"; fi
	read -r end _ </proc/uptime
	say "$p passed, $f failed, $s skipped in $((${end%.*} - ${start%.*})) s"
	say "sum $p $f $s"
}

# The folders of systemd: slices that give their controllers away, scopes that hold processes.
echo "+memory +pids +cpu" >$cg/cgroup.subtree_control
mkdir -p $cg/system.slice/session.scope $cg/user.slice/given/shell $cg/user.slice/given/app.scope $cg/user.slice/mine
echo "+memory +pids +cpu" >$cg/system.slice/cgroup.subtree_control
echo "+memory +pids" >$cg/user.slice/cgroup.subtree_control # as systemd gives to users
mkdir $cg/system.slice/own.service $cg/container
for d in user.slice/given user.slice/given/shell user.slice/given/app.scope system.slice/own.service; do
	for f in . cgroup.procs cgroup.threads cgroup.subtree_control; do chown tester $cg/$d/$f; done
done

say "Linux $(uname -r), $(nproc) processors, cgroups: $(cut -d' ' -f1,2 /proc/mounts | grep cgroup)"
run 1 "root of the tree" root / "full .cgroup 2," $long $O/tests/test_box_server $O/tests/test_box_wire \
	tests/attack/box_escape.sh tests/cli/judge.sh
run 2 "a scope beside others" root /system.slice/session.scope "full .cgroup 2," $short
export CUPEL_CGROUP=$cg/user.slice/given
run 3 "a delegated folder that is named" tester /user.slice/given/shell "full .cgroup 2," $long
unset CUPEL_CGROUP
run 4 "a delegated scope" tester /user.slice/given/app.scope "full .cgroup 2," $short
run 5 "no cgroup of one's own" tester /user.slice/mine "user .cgroup none," $short tests/vm/judge.sh
export CUPEL_CGROUP=$cg/user.slice/given
run 6 "a delegated folder, but from outside" tester /user.slice/mine "user .cgroup none,"
unset CUPEL_CGROUP
run 7 "a delegated service" tester /system.slice/own.service "full .cgroup 2," $short
with="unshare --cgroup --mount sh tests/vm/container.sh"
run 8 "a container" root /container "full .cgroup 2," $short tests/vm/judge.sh
with=
echo 0 >/proc/sys/user/max_user_namespaces
run 9 "no namespaces" tester /user.slice/mine "landlock .cgroup none," $short tests/vm/judge.sh
say end
sync
echo o >/proc/sysrq-trigger
sleep 60
