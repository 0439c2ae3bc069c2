# bench_floor.py - the floor of `cupel bench judge`: fork a warm interpreter, run the program, read
# what it prints, wait. No isolation. Arguments: program, input, count, modules to load first.
# Prints wall and CPU time of the loop in nanoseconds.
import gc
import os
import resource
import sys
import time

program, given, count, preload = sys.argv[1:5]
for name in preload.split():
    __import__(name)
with open(program) as f:
    code = compile(f.read(), "main.py", "exec")


def cpu():
    both = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(r.ru_utime + r.ru_stime for r in both)


gc.collect()
gc.freeze()
before, start = cpu(), time.monotonic()
for _ in range(int(count)):
    stdin = os.open(given, os.O_RDONLY)
    out, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(stdin, 0)
        os.dup2(end, 1)
        exec(code, {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.close(stdin)
    os.close(end)
    text = b""
    while part := os.read(out, 100):
        text += part
    if text != b"21\n":
        sys.exit("wrong")
    os.close(out)
    os.waitpid(pid, 0)
print(int((time.monotonic() - start) * 1e9), int((cpu() - before) * 1e9))
