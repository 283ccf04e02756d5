"""Fields of protobuf messages as bytes, for models that the onnx package cannot write or takes minutes for."""


def varint(value):
    groups = []
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def head(number, length):
    """The tag and length of a length-delimited field."""
    return varint(number << 3 | 2) + varint(length)


def field(number, content):
    """A field whose value is a message or a string."""
    return head(number, len(content)) + content
