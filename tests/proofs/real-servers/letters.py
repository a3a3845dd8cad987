"""The letters of tokenizers that split a text into its bytes."""


def byte_names():
    """Every byte under the printable letter that tokenizers of this kind have for it."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]
