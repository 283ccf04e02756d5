"""Pictures for models that look at pictures, as arrays of numbers from -1 to 1: rectangles, and digits as in a text."""

import numpy as np

TILE = 16
# Digits of 5 by 7 pixels, row by row.
DIGITS = """
    01110100011001110101110011000101110 00100011000010000100001000010001110 01110100010000100010001000100011111 11111000100010000010000011000101110
    00010001100101010010111110001000010 11111100001111000001000011000101110 00110010001000011110100011000101110 11111000010001000100010000100001000
    01110100011000101110100011000101110 01110100011000101111000010001001100
""".split()  # noqa: SIM905 - a list of a literal each is harder to read.
# In pixels of a digit: a line with its margin, and a digit with the space behind it.
LINE, DIGIT = 9, 6
LEAST_PAGE = 100


def rectangles(rng, shape):
    """Rectangles of 16 by 16 pixels, with a little noise."""
    *images, height, width = shape
    coarse = rng.uniform(-1, 1, (*images, -(-height // TILE), -(-width // TILE)))
    fine = coarse.repeat(TILE, axis=-2).repeat(TILE, axis=-1)[..., :height, :width]
    return np.clip(fine + 0.05 * rng.standard_normal(shape), -1, 1)


def text(rng, shape):
    """Dark digits on light paper: one line in a low picture, several in a page."""
    *_, height, width = shape
    is_line = height < LEAST_PAGE
    scale = max(2, height // 12) if is_line else 4
    page, step = np.ones((height, width)), LINE * scale + (0 if is_line else 3 * scale)
    for top in range(0, height - LINE * scale + 1, step):
        line = np.concatenate([digit(rng.integers(10), scale) for _ in range((width - 2 * scale) // (DIGIT * scale))], axis=1)
        page[top : top + line.shape[0], scale : scale + line.shape[1]] -= 2 * line
    return np.clip(np.broadcast_to(page, shape) + 0.02 * rng.standard_normal(shape), -1, 1)


def digit(number, scale):
    pixels = np.array([int(bit) for bit in DIGITS[number]]).reshape(7, 5)
    return np.pad(pixels, ((1, 1), (0, 1))).repeat(scale, axis=0).repeat(scale, axis=1)
