#!/bin/sh
# Programs that try to reach beyond their box: each ends within its limits, none gets out, and the
# next program runs as if nothing had been.
iso=--isolation=${ISOLATION:-auto} # the tier to attack
n=0
ok() {
	n=$((n + 1))
	if eval "$2"; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 3
"$CUPEL" box $iso -- /bin/true </dev/null 2>err
case $? in
0) ;;
3) echo "1..0 # SKIP $(head -1 err)"; exit 0 ;;
*) cat err; exit 1 ;;
esac

cpu=$((2 * ${SLOW:-1})) # SLOW: how many times slower than usual the machine is
# sh_box TEXT [CPU]: a shell script in a box; its output in 'out', what cupel says in 'err'
sh_box() { "$CUPEL" box $iso --cpu=${2:-$cpu} --wall=$((cpu * 10)) --mem=128 --procs=24 --disk=8 --out=64 -- /bin/sh -c "$1" </dev/null >out 2>err; }
py_box() { "$CUPEL" box $iso --cpu=${2:-$cpu} --wall=$((cpu * 10)) --mem=128 --procs=24 --disk=8 --out=64 -- /usr/bin/python3 -c "$1" </dev/null >out 2>err; }
folder() { grep -q "isolation=landlock" err; } # files are counted, and too many are the end
end() { tail -1 err | grep -q "^$1 "; }

ok "a fork bomb in sh ends at a limit" 'sh_box ":(){ :|:& :; }; : 2>/dev/null; while :; do :; done" 2; end "cpu limit" || end "wall limit" || end "exited" || end "signaled" || end "mem limit"'
ok "kill -9 -1 kills nobody outside" 'sh_box "kill -9 -1; kill -9 1; kill -9 \$PPID; echo alive"; grep -q alive out || end signaled'
ok "system programs cannot be replaced" 'sh_box "for f in /bin/sh /usr/bin/python3 /etc/passwd /etc/ld.so.cache; do echo x 2>/dev/null >\$f && echo wrote \$f; rm -f \$f 2>/dev/null && echo removed \$f; done"; [ ! -s out ]'
ok "a set-user-id program gives nothing" 'sh_box "/bin/su -c id 2>&1; /usr/bin/mount 2>/dev/null | head -1; id -u"; ! grep -q "^0$" out && ! grep -q "uid=0" out'
ok "no link leads out" 'sh_box "ln -s / r; ls r/root r/home r/../../../work r/proc/1/root 2>/dev/null"; [ ! -s out ]'
ok "devices cannot be made" 'sh_box "mknod m b 8 0 || mknod /tmp/c c 1 1 || mknod /dev/shm/k c 1 2"; end "exited" && ! grep -q "isolation=none" err && [ "$(grep -Ec "not permitted|Permission denied" err)" = 3 ]'
ok "no process outside is seen" 'sh_box "ls -d /proc/[0-9]*"; [ "$(wc -l <out)" -le 4 ]'
ok "memory of init cannot be read" 'py_box "
for f in \"mem\", \"maps\", \"environ\", \"root\", \"ns/mnt\":
    try: print(open(\"/proc/1/\" + f, \"rb\").read(1))
    except OSError: pass"; end exited && [ ! -s out ]'
ok "namespaces are not to be had" 'sh_box "unshare -Ur id -u"; end denied || { [ ! -s out ]; }'
ok "a limit cannot be raised" 'py_box "
import resource as r
for k in r.RLIMIT_STACK, r.RLIMIT_NOFILE, r.RLIMIT_CPU, r.RLIMIT_FSIZE, r.RLIMIT_CORE:
    try: r.setrlimit(k, (r.RLIM_INFINITY, r.RLIM_INFINITY)); print(k)
    except (ValueError, OSError): pass"; end exited && [ ! -s out ]'
ok "ignored signals do not hold off the CPU limit" 'py_box "
import signal
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass" 2; end "cpu limit"'
ok "a memory bomb ends alone" 'py_box "
a = []
while True: a.append(bytearray(b\"x\") * 4000000)"; end "mem limit"'
ok "a flood of output is cut" 'sh_box "yes"; end "output limit" && [ "$(wc -c <out)" = 65536 ]'
ok "a flood on stderr is cut" 'sh_box "yes >&2"; end "output limit"'
ok "shared memory counts as disk" 'sh_box "head -c 100m /dev/zero >/dev/shm/x; head -c 100m /dev/zero >/tmp/y; cat /dev/shm/x /tmp/y | wc -c"; [ "$(cat out)" -le 8388608 ]'
ok "millions of files stop early" 'py_box "
n = 0
try:
    while True: open(\"f%d\" % n, \"x\").close(); n += 1
except OSError: print(n < 20000)"; { end exited && grep -q True out; } || { folder && ! end exited; }'
ok "deep folders and no rights do no harm" 'py_box "
import os
try:
    for i in range(1000): os.mkdir(\"d\"); os.chdir(\"d\")
finally: os.chmod(\".\", 0)"; end exited || { folder && end "output limit"; }'
ok "no address answers" 'py_box "
import socket
for f in socket.AF_INET, socket.AF_INET6:
    try: socket.socket(f, socket.SOCK_STREAM).connect((\"127.0.0.1\", 22)); print(f)
    except OSError: pass
s = socket.socket(socket.AF_UNIX)
for a in \"/run/docker.sock\", \"/var/run/docker.sock\", chr(0) + \"/tmp/.X11-unix/X0\":
    try: s.connect(a); print(a)
    except OSError: pass"; end exited && [ ! -s out ]'
ok "a program leaves nothing for the next" 'sh_box "echo x >/tmp/mark; echo x >/dev/shm/mark; echo x >/box/mark"; end exited; sh_box "ls /tmp /dev/shm /box"; ! grep -q mark out'
ok "the box still works" 'sh_box "echo fine"; grep -q fine out && end exited'
echo "1..$n"
