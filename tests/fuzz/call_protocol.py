# call_protocol.py COUNT - feeds frames to the trusted side of src/judge/runner_wire.py, in this
# process.

import random
import socket
import sys

SEEDS = [b'["r",5,[],[]]', b'["r",[1,2.5,"a",null,true],[],[]]',
         b'["r",{"t":[1,{"d":[1,2]}]},[],[]]',
         b'["r",{"n":1},[[1,"Node",["val",3,"next",{"n":1}]]],[]]', b'["r",{"a":0},[],[[0,[1,2]]]]',
         b'["r",{"h":[1,true,"P",""]},[],[]]', b'["r",{"g":3},[],[]]', b'["r",{"o":2},[],[]]',
         b'["r",{"q":["1","3",null]},[],[]]', b'["r",{"D":["1.5","3","2",1.5]},[],[]]',
         b'["r",{"T":["date","2020-01-02",null]},[],[]]', b'["r",{"b":"00ff"},[],[]]',
         b'["r",{"B":["builtins","int"]},[],[]]', b'["r",{"I":"-ffff"},[],[]]',
         b'["r",{"s":[1,{"z":[2]}]},[],[]]', b'["r",{"S":"eda080"},[],[]]',
         b'["e","builtins","ValueError",["ValueError","Exception"],["x"],"x",[]]',
         b'["e","main","Mine",["KeyError","Exception"],[{"t":[1]}],"x",[]]',
         b'["e","builtins","ExceptionGroup",["ExceptionGroup"],["m",[]],"m",[]]',
         b'["c",2,null,[1,"x"],["k"],[]]', b'["c",2,"__call__",[],[],[]]', b'["a",2,"__globals__"]',
         b'["a",2,"name"]', b'["x","str",2,[],[]]', b'["i",2,5]', b'["s",2,"x",1,[]]', b'["g","f"]']


class Over(BaseException):
    pass


def load_parts():
    space = {"__builtins__": dict(vars(__import__("builtins"))), "PARTS": {}}
    for name in ("main", "value", "call", "wire", "pair", "trust"):
        with open("src/judge/runner_%s.py" % name) as f:
            exec(compile(f.read(), "runner_%s.py" % name, "exec"), space)
    return space


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        way = rng.randrange(5)
        if way == 0 and at < len(data):
            data[at] = rng.choice(b'[]{}",:0123456789-.eE\\truefalsn \x00\xff')
        elif way == 1:
            del data[at:at + rng.randrange(1, 6)]
        elif way == 2:
            data[at:at] = rng.choice(SEEDS)[rng.randrange(6):]
        elif way == 3:
            data[at:at] = rng.choice((b"[" * 2000, b"1" * 5000, b"null,", b'{"t":[', b"NaN",
                                      b'"\\ud800"'))
        elif at < len(data):
            data[at:at + 1] = bytes([rng.randrange(256)])
    length = len(data).to_bytes(4, "little")
    if rng.random() < 0.05:
        length = rng.randbytes(4)
    return length + bytes(data)


def one(space, rng, over):
    ours, theirs = socket.socketpair()
    side = space["TrustedSide"](ours.fileno(), "f")
    side.ready, side.lost = True, over
    node = type("Node", (), {})
    side.classes["Node"] = node
    side.number(lambda *a, **k: 7)
    frames = b"".join(mutate(rng, rng.choice(SEEDS)) for _ in range(rng.randrange(1, 4)))
    try:
        theirs.sendall(frames)
        theirs.shutdown(socket.SHUT_WR)
        x = side.ask('["c","f",null,[],[],[]]', [[0]])
        str(x) if type(x) in space["PLAIN_TYPES"] else None
        return "value"
    except Over:
        return "over"
    except BaseException as e:
        if not any(e is r for r in side.raised):
            raise
        return "raised"
    finally:
        ours.close()
        theirs.close()


def main():
    def over(why):
        raise Over

    space, rng = load_parts(), random.Random(1)
    count = {"value": 0, "over": 0, "raised": 0}
    print("1..1")
    sys.set_int_max_str_digits(0)
    try:
        for _ in range(int(sys.argv[1])):
            count[one(space, rng, over)] += 1
        ok = min(count.values()) > 0
    except Exception as e:
        ok = False
        print("# %s: %s" % (type(e).__name__, ascii(str(e))[:200]))
    print("%sok 1 - %s" % ("" if ok else "not ", count))
    sys.exit(not ok)


main()
