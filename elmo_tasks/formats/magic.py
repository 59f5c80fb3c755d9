"""The first bytes of files, by which their format is known."""

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
ZIP = b"PK\x03\x04"
HDF5 = b"\x89HDF"
