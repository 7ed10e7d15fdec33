#!/usr/bin/env python3
"""Runs the Are We Fast Yet programs in Holloway, `luajit -joff` and Lua 5.4, interleaved, and prints ratios of CPU time.

    benchmarks/against-lua.py path/to/are-we-fast-yet [--holloway target/release/holloway] [--rounds 5] [NAME...]

The checkout is that of the original suite (github.com/smarr/are-we-fast-yet); nothing of it is kept here. Each process runs a
program a few times; what is compared is the user and system time of the whole process, start-up and compilation included,
because it does not depend on what else the machine is doing. A ratio above 1 means that Holloway is faster. The band in
brackets is the smallest and largest ratio of a round; the A/A column compares Holloway with itself.
"""
import argparse
import math
import os
import pathlib
import statistics
import sys

# Name, inner size, iterations.
PROGRAMS = [
    ("Bounce", 300, 5), ("CD", 100, 1), ("DeltaBlue", 1000, 12), ("Havlak", 1, 1), ("Json", 10, 8), ("List", 300, 5),
    ("Mandelbrot", 500, 3), ("NBody", 250000, 1), ("Permute", 200, 5), ("Queens", 200, 6), ("Richards", 10, 3),
    ("Sieve", 500, 5), ("Storage", 100, 5), ("Towers", 100, 5),
]


def cpu_time(command, folder):
    """Seconds of processor time of a command; it must succeed."""
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execvp(command[0], command)
    _, status, usage = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--holloway", type=pathlib.Path, default=pathlib.Path("target/release/holloway"))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_intermixed_args()
    here = pathlib.Path(__file__).resolve().parent / "programs" / "awfy"
    lua = arguments.suite.resolve() / "benchmarks" / "Lua"
    holloway = str(arguments.holloway.resolve())
    wanted = {name.lower() for name in arguments.names}
    names = ["A/A", "luajit -joff", "lua 5.4"]
    print(f"{'program':12}" + "".join(f"{name:>24}" for name in names))
    logs = [[], [], []]
    for name, size, iterations in PROGRAMS:
        if wanted and name.lower() not in wanted:
            continue
        ours = [holloway, "run", str(here / f"{name.lower()}.hol"), "--", str(size), str(iterations)]
        theirs = ["harness.lua", name, str(iterations), str(size)]
        ratios = [[], [], []]
        for _ in range(arguments.rounds):
            own = cpu_time(ours, here)
            ratios[0].append(cpu_time(ours, here) / own)
            ratios[1].append(cpu_time(["luajit", "-joff", *theirs], lua) / own)
            ratios[2].append(cpu_time(["lua5.4", *theirs], lua) / own)
        cells = ""
        for log, samples in zip(logs, ratios):
            log.append(math.log(statistics.median(samples)))
            cells += f"{statistics.median(samples):10.2f} [{min(samples):5.2f},{max(samples):5.2f}]"
        print(f"{name:12}{cells}", flush=True)
    print(f"{'geomean':12}" + "".join(f"{math.exp(statistics.mean(log)):10.2f}{'':14}" for log in logs))


if __name__ == "__main__":
    main()
