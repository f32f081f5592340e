#!/usr/bin/env python3
"""Writes small.dat, an initialization file of SIAL jobs, field by field (docs/sial_job_files.md). Run it in its
folder."""
import struct

out = b""


def i4(*values):
    global out
    out += struct.pack("<%di" % len(values), *values)


def f8(*values):
    global out
    out += struct.pack("<%dd" % len(values), *values)


def text(words):
    global out
    i4(len(words) + 1)
    out += words.encode("ascii") + b"\x00"


i4(23121991, 1)
i4(2)
text("scf_rhf.siox")
text("Second.siox")
i4(3)
for name, value in ("baocc", 1), ("Norb", 2), ("minus", -7):
    text(name)
    i4(value)
i4(2)
for name, value in ("nn_repulsion", 9.1877), ("scf_conv", 1e-10):
    text(name)
    f8(value)
i4(2)
i4(1001, 2, 5, 6)
i4(1003, 3, 1, 4, 6)
i4(2)
text("coords")
i4(2, 2, 3, 2, 6)
f8(0.0, 0.1, -0.2, 1.5, -1.5, 1e300)
text("empty")
i4(1, 1, 0, 0)
i4(1)
text("int_array_data")
i4(1, 1, 8, 8)
i4(*range(1, 9))
i4(1)
text("scf_rhf.siox")
i4(2)
text("no_servers")
text("f")
text("note")
text("")

with open("small.dat", "wb") as file:
    file.write(out)
