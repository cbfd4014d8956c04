"""Digests of constants: their bytes if they are few, else the SHA-256."""

from __future__ import annotations

import hashlib

import numpy as np

SHORT = 64  # bytes up to which a constant is its own digest


def digest_of_bytes(data: bytes | memoryview) -> bytes:
    """The digest of a constant's bytes. A first byte tells bytes from hashes, so neither passes for the other."""
    return b"\0" + bytes(data) if len(data) <= SHORT else b"\1" + hashlib.sha256(data).digest()


def digest_of(array: np.ndarray) -> bytes:
    """The digest of a constant's elements; each string goes in with its length."""
    if array.dtype != object:
        return digest_of_bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.reshape(-1)]
    return digest_of_bytes(b"".join(len(text).to_bytes(8, "little") + text for text in texts))
