"""Models whose names try to become a part of the page that shows them."""

HOSTILE = ["</script><img src=x onerror=alert(1)>", "<!--<script>alert(1)", "a\u202eb\u2028c\u200dd", "]]>&lt;{{script}}"]


def plant(path, old, new):
    """Replaces the name of a node in the bytes of a model; the lengths of the messages around it follow."""

    def varint(number):
        encoded = bytearray()
        while number > 127:
            encoded.append(number & 127 | 128)
            number >>= 7
        return bytes([*encoded, number])

    def read(data, at):
        number = shift = 0
        while True:
            number |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return number, at

    def replaced(data, fields):
        """The message with the field at the end of this list of numbers replaced, in whichever message has it."""
        out, at = bytearray(), 0
        while at < len(data):
            start = at
            key, at = read(data, at)
            if key & 7 == 2:
                length, at = read(data, at)
                value, at = data[at : at + length], at + length
                if key >> 3 == fields[0]:
                    value = replaced(value, fields[1:]) if len(fields) > 1 else (new if value == old else value)
                out += varint(key) + varint(len(value)) + value
            else:
                assert key & 7 == 0, "only varints and lengths occur"
                _, at = read(data, at)
                out += data[start:at]
        return bytes(out)

    # ModelProto.graph, GraphProto.node, NodeProto.name.
    path.write_bytes(replaced(path.read_bytes(), [7, 1, 3]))
