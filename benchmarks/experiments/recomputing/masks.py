"""The mask of the masked filter, made again as `apps/masks/filter.hol` makes it, and what it says of the picture."""

import functools

WIDTH, ROWS, MARGIN = 3114, 2376, 2
# Mean lengths of runs: of copied pixels, and of convolved ones.
LENGTHS = (860, 190)
SEED = 11
RUN = 10
WORD = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15


def inside():
    """Is each pixel within the margins copied (0) or convolved (1), row after row; numbers are those of SplitMix64."""
    # The picture takes a number for eight pixels before.
    state = SEED + -(-ROWS * WIDTH // 8) * GAMMA
    kind = 0
    for _ in range((ROWS - 2 * MARGIN) * (WIDTH - 2 * MARGIN)):
        yield kind
        state = (state + GAMMA) & WORD
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & WORD
        if ((mixed ^ (mixed >> 31)) >> 1) % LENGTHS[kind] == 0:
            kind = 1 - kind


def runs():
    """Kinds and lengths of all runs of the picture, margins among them, which are copied."""
    pixels = inside()
    last, length = 0, MARGIN * WIDTH
    for _ in range(MARGIN, ROWS - MARGIN):
        row = [0] * MARGIN + [next(pixels) for _ in range(WIDTH - 2 * MARGIN)] + [0] * MARGIN
        for kind in row:
            if kind != last:
                yield last, length
                last, length = kind, 0
            length += 1
    if last != 0:
        yield last, length
        length = 0
    yield 0, length + MARGIN * WIDTH


@functools.cache
def percentages():
    """Copied, of all; of copied, nine more copied, and convolved next; of convolved, nine more convolved, and copied next."""
    pixels, long, turns = [0, 0], [0, 0], [0, 0]
    for kind, length in runs():
        pixels[kind] += length
        long[kind] += max(length - RUN + 1, 0)
        turns[kind] += 1
    # The last run has no other behind it; it is copied.
    turns[0] -= 1
    shares = [(100 * long[kind] / pixels[kind], 100 * turns[kind] / pixels[kind]) for kind in (0, 1)]
    return (100 * pixels[0] / sum(pixels), *shares[0], *shares[1])
