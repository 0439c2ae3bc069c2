# runner_python.py - the end of the boot file of a warm interpreter: each return of getppid() is a
# new job, in a process of its own (box.h). PARTS, before it, holds the other files runner_*.py;
# they run in a namespace with builtins of their own, which no program can change.

import sys

space = {"__builtins__": dict(sys.modules["builtins"].__dict__), "PARTS": PARTS}
exec(compile(PARTS["main"], "runner_main.py", "exec"), space)
start, end, anything, wait = space["boot"](globals())
del space, sys, PARTS
code, space = start(wait())
fate = None
try:
    exec(code, space)
except anything as e:
    fate = e.with_traceback(e.__traceback__.tb_next)
code = space = None
end(fate)
