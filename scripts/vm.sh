#!/bin/sh
# vm.sh - the tests of boxes in a virtual machine whose only cgroups are version 2: qemu with
# software emulation, Debian's cloud kernel (fetched by apt, unpacked, never
# installed), and a root file system made of this machine's packages. tests/vm/guest.sh runs inside.
# Needs no root but to install qemu. The last line is 'N passed, N failed, N skipped'.
#
# B=release     build to test            VM_LIMIT=2400  seconds for all
# VM_ACCEL=kvm  where that works           VM_RUN='1 4'   only these runs of guest.sh
: "${B:=release}" "${VM_LIMIT:=2400}" "${VM_RUN:=}"
O=build/$B V=build/vm root=build/vm/root
die() { echo "vm.sh: $*" >&2; echo '0 passed, 1 failed, 0 skipped'; exit 3; }
[ -x "$O/cupel" ] && [ -x "$O/tests/test_box" ] || die "no build in $O: run make check-vm"

for w in qemu-system-x86_64:qemu-system-x86 mke2fs:e2fsprogs dpkg-deb:dpkg apt-get:apt; do
	command -v "${w%%:*}" >/dev/null && continue
	[ "$(id -u)" = 0 ] || die "no ${w%%:*}: run sudo apt-get install --no-install-recommends ${w#*:}"
	DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${w#*:}" \
		>"$V.apt" 2>&1 || die "apt-get cannot install ${w#*:}: $(tail -1 "$V.apt")"
done

# The kernel that linux-image-cloud-amd64 stands for today.
mkdir -p "$V" || exit 3
kernel=$(ls "$V"/k/boot/vmlinuz-* 2>/dev/null)
if [ -z "$kernel" ]; then
	name=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: *//p')
	[ -n "$name" ] || die "apt knows no linux-image-cloud-amd64: run apt-get update"
	(cd "$V" && apt-get -q download "$name") >"$V/apt.log" 2>&1 || die "apt-get: $(tail -1 "$V/apt.log")"
	dpkg-deb -x "$V/$name"_*.deb "$V/k" && rm "$V/$name"_*.deb && rm -rf "$V/k/lib/modules"
	kernel=$(ls "$V"/k/boot/vmlinuz-*) || die "no kernel in $name"
fi

# Packages with all that they need, as they are on this machine, without their documentation.
rm -rf "$root"
mkdir -p "$root/usr" || exit 3
for d in proc sys dev tmp run root etc var/tmp cupel; do mkdir -p "$root/$d"; done
for d in bin sbin lib lib64; do mkdir -p "$root/usr/$d" && ln -s "usr/$d" "$root/$d"; done
apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
	--no-replaces --no-enhances bash coreutils dash diffutils findutils grep gzip libc-bin mawk mount perl \
	procps python3 sed util-linux | grep '^[a-z]' | sort -u |
	while read -r p; do dpkg-query -L "$p" 2>/dev/null; done |
	sed -nE 's,^/(bin|sbin|lib|lib64)/,/usr/\1/,; s,^/(usr/.*),\1,p' |
	grep -Ev '^usr/share/(doc|man|locale|info|lintian|zoneinfo)/' |
	while read -r f; do
		[ -d "/$f" ] && [ ! -L "/$f" ] || echo "$f"
		case $f in usr/lib/python3*.py) p=${f%/*}/__pycache__/${f##*/} && ls "/${p%.py}".cpython-*.pyc 2>/dev/null | cut -c2- ;; esac
	done | sort -u >"$V/files"
tar -C / --ignore-failed-read -cf - -T "$V/files" 2>"$V/tar.log" | tar -C "$root" -xf - ||
	die "copy /usr: $(tail -1 "$V/tar.log")"
ln -sf mawk "$root/usr/bin/awk"

mkdir -p "$root/cupel/$O/tests" && cp -R tests scripts "$root/cupel" || exit 3
for f in cupel cupel-boxd zygote.so; do
	[ ! -e "$O/$f" ] || cp "$O/$f" "$root/cupel/$O" || exit 3
done
for f in "$O"/tests/test_box*; do
	case $f in *.*) ;; *) cp "$f" "$root/cupel/$O/tests" || exit 3 ;; esac
done
for f in $(ldd "$O/cupel" "$O/cupel-boxd" "$O/tests/test_box" | sed -n 's,.*=> \(/[^ ]*\) .*,\1,p' | sort -u); do
	t=$(echo "$f" | sed -E 's,^/(lib|lib64)/,/usr/\1/,')
	mkdir -p "$root${t%/*}" && cp -L "$f" "$root$t" || exit 3
done
cp /etc/ld.so.cache "$root/etc"
printf '%s\n' root:x:0:0::/root:/bin/sh tester:x:4711:4711::/tmp:/bin/sh nobody:x:65534:65534::/:/bin/false >"$root/etc/passwd"
printf '%s\n' root:x:0: tester:x:4711: nogroup:x:65534: >"$root/etc/group"
size=$(du -sm "$root" | cut -f1)
rm -f "$V/root.ext4"
mke2fs -qF -t ext4 -O ^has_journal -E root_owner=0:0 -d "$root" "$V/root.ext4" "$((size + size / 3 + 64))m" >"$V/mke2fs.log" ||
	die "mke2fs cannot make a root file system"
rm -rf "$root"

# NVMe and ext4 are in the kernel itself: no modules, no initial RAM disk. The disk is not changed.
echo "$(qemu-system-x86_64 --version | head -1), ${kernel##*/}, root of $size MiB"
nice timeout -k 10 "$VM_LIMIT" qemu-system-x86_64 -accel "${VM_ACCEL:-tcg,thread=multi}" -cpu max -smp 2 -m 2048 -nodefaults -display none \
	-no-reboot -serial stdio -kernel "$kernel" \
	-drive "file=$V/root.ext4,format=raw,if=none,id=d,snapshot=on" -device nvme,drive=d,serial=1 \
	-append "root=/dev/nvme0n1 rw init=/bin/sh console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off random.trust_cpu=on tsc=reliable -- /cupel/tests/vm/guest.sh $O $VM_RUN" \
	</dev/null 2>"$V/qemu.log" | sed -u 's/\r$//' | tee "$V/console.log" | sed -un '/^vm: \(sum\|end\)/d; s/^vm: //p'

if ! grep -q '^vm: end' "$V/console.log"; then
	tail -n 20 "$V/console.log" && cat "$V/qemu.log"
	die "the machine did not come to its end within $VM_LIMIT s; its console is $V/console.log"
fi
awk '/^vm: sum / { p += $3; f += $4; s += $5; n++ }
END { if (!n) f++; print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"; exit f > 0 || !p }' "$V/console.log"
