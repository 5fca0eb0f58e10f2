"""A Parquet file of a few strings, in one row group, plain and not compressed.

Python's standard library has no writer. This is the format's least: for each column a page
(its header in Thrift's compact encoding, then the strings with their lengths), and at the
end the footer that says where they lie. Field numbers are those of parquet.thrift.
"""
import struct

BYTE_ARRAY, REQUIRED, UTF8, PLAIN, RLE = 6, 0, 0, 0, 3
I32, I64, STRING, LIST, STRUCT = 5, 6, 8, 9, 12


def file(columns, rows):
    """The bytes of a file with these string columns."""
    content, chunks = b"PAR1", []
    for name, cells in zip(columns, zip(*rows)):
        cells = [cell.encode() for cell in cells]
        data = b"".join(struct.pack("<I", len(cell)) + cell for cell in cells)
        page = [(1, I32, 0), (2, I32, len(data)), (3, I32, len(data)), (5, STRUCT, [
            (1, I32, len(cells)), (2, I32, PLAIN), (3, I32, RLE), (4, I32, RLE)])]
        written = _struct(page) + data
        meta = [
            (1, I32, BYTE_ARRAY), (2, LIST, (I32, [PLAIN])), (3, LIST, (STRING, [name])), (4, I32, 0),
            (5, I64, len(cells)), (6, I64, len(written)), (7, I64, len(written)), (9, I64, len(content)),
        ]
        chunks.append([(2, I64, len(content)), (3, STRUCT, meta)])
        content += written
    leaves = [[(1, I32, BYTE_ARRAY), (3, I32, REQUIRED), (4, STRING, name), (6, I32, UTF8)] for name in columns]
    schema = [[(4, STRING, "schema"), (5, I32, len(columns))], *leaves]
    group = [(1, LIST, (STRUCT, chunks)), (2, I64, len(content) - 4), (3, I64, len(rows))]
    footer = _struct([
        (1, I32, 1), (2, LIST, (STRUCT, schema)), (3, I64, len(rows)), (4, LIST, (STRUCT, [group]))])
    return content + footer + struct.pack("<I", len(footer)) + b"PAR1"


def _struct(fields):
    """Fields as (number, type, value), each with the step from the field before it."""
    result, last = b"", 0
    for number, kind, value in fields:
        result += bytes([(number - last) << 4 | kind]) + _value(kind, value)
        last = number
    return result + b"\0"


def _value(kind, value):
    if kind in (I32, I64):
        return _varint(value * 2)  # zigzag; no number here is negative
    if kind == STRING:
        return _varint(len(value.encode())) + value.encode()
    if kind == STRUCT:
        return _struct(value)
    element, values = value
    head = bytes([len(values) << 4 | element]) if len(values) < 15 else bytes([0xF0 | element]) + _varint(len(values))
    return head + b"".join(_value(element, one) for one in values)


def _varint(number):
    result = b""
    while number > 127:
        result += bytes([number & 127 | 128])
        number >>= 7
    return result + bytes([number])
