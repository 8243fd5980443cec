"""A tiny PDF writer for tests: text in the standard fonts, lines, an outline and tags, as bytes without a library."""

import hashlib
import re
from dataclasses import dataclass, field

FONTS = {"F1": "Helvetica", "F2": "Helvetica-Bold", "F3": "Courier", "F4": "Times-Italic"}
LIGATURES = {"\u201a": "ff", "\u0192": "ffi", "\u201e": "fl"}  # how they are typed in the font F5


@dataclass
class Sheet:
    """One page of ``width`` x ``height`` points; places count from the upper left corner."""

    width: int = 595
    height: int = 842
    rotate: int = 0
    operations: list[str] = field(default_factory=list)
    tags: list[tuple[str, int | None]] = field(default_factory=list)

    def text(self, x, y, text, size=10, font="F1", tag=None, element=None):
        """``element`` is the number of the tagged element, for text that belongs to one with other text."""
        raw = text.encode("cp1252").decode("latin-1").replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        drawn = f"BT /{font} {size} Tf {x} {self.height - y} Td ({raw}) Tj ET"
        if tag:
            drawn = f"/{tag} <</MCID {len(self.tags)}>> BDC {drawn} EMC"
            self.tags.append((tag, element))
        self.operations.append(drawn)
        return self

    def line(self, x0, y0, x1, y1):
        self.operations.append(f"0.7 w {x0} {self.height - y0} m {x1} {self.height - y1} l S")
        return self

    def paragraph(self, x, y, lines, size=10, font="F1", leading=12):
        for n, line in enumerate(lines):
            self.text(x, y + n * leading, line, size, font)
        return y + len(lines) * leading

    def grid(self, xs, ys):
        for x in xs:
            self.line(x, ys[0], x, ys[-1])
        for y in ys:
            self.line(xs[0], y, xs[-1], y)
        return self


def pdf(*sheets, outline=(), title="", encrypt=False, inherited=False):
    """The bytes of a PDF. ``outline`` is a list of (level, title, page from 1, y from the top, which may be None).

    With ``inherited`` the pages have their size and fonts from the tree above them.
    """
    objects = {}
    catalog, pages, info, fonts, tree = 1, 2, 3, 4, 5
    objects[fonts] = (
        "<<"
        + " ".join(
            f"/{key} <</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>"
            for key, name in FONTS.items()
        )
        + " /F5 <</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding"
        + f"<</Type/Encoding/Differences[130/{'/'.join(LIGATURES.values())}]>>>>>>"
    )
    number = 6
    kids = []
    elements = []
    for sheet in sheets:
        page, content = number, number + 1
        number += 2
        stream = "\n".join(sheet.operations)
        objects[content] = f"<</Length {len(stream.encode('latin-1'))}>>\nstream\n{stream}\nendstream"
        shared = f"/MediaBox[0 0 {sheet.width} {sheet.height}]/Rotate {sheet.rotate}/Resources<</Font {fonts} 0 R>>"
        objects[page] = (
            f"<</Type/Page/Parent {pages} 0 R{'' if inherited else shared}"
            f"/Contents {content} 0 R/StructParents {len(kids)}>>"
        )
        kids.append(page)
        elements.append([(tag, element, page, mcid) for mcid, (tag, element) in enumerate(sheet.tags)])
    number, tagged = _structure(objects, elements, tree, number)
    number, root = _outlines(objects, sheets, kids, outline, number)
    above = shared if inherited else ""
    objects[pages] = f"<</Type/Pages/Count {len(kids)}{above}/Kids[{' '.join(f'{k} 0 R' for k in kids)}]>>"
    objects[info] = f"<</Title({title})>>"
    objects[catalog] = (
        f"<</Type/Catalog/Pages {pages} 0 R"
        + (f"/Outlines {root} 0 R" if root else "")
        + (f"/MarkInfo<</Marked true>>/StructTreeRoot {tree} 0 R" if tagged else "")
        + ">>"
    )
    return _assembled(objects, catalog, info, encrypt)


def _structure(objects, elements, tree, number):
    if not any(elements):
        return number, False
    document = number
    number += 1
    kids, parents, known = [], [], {}
    for place, page in enumerate(elements):
        row = []
        for tag, element, holder, mcid in page:
            if element is None or element not in known:
                known[element] = number
                kids.append((number, tag, []))
                number += 1
            own = known[element]
            next(k for k in reversed(kids) if k[0] == own)[2].append(f"<</Type/MCR/Pg {holder} 0 R/MCID {mcid}>>")
            row.append(own)
        parents.append(f"{place} [{' '.join(f'{n} 0 R' for n in row)}]")
    for own, tag, content in kids:
        objects[own] = f"<</Type/StructElem/S/{tag}/P {document} 0 R/K[{''.join(content)}]>>"
    kids = [own for own, _, _ in kids]
    objects[document] = f"<</Type/StructElem/S/Document/P {tree} 0 R/K[{' '.join(f'{k} 0 R' for k in kids)}]>>"
    objects[tree] = f"<</Type/StructTreeRoot/K {document} 0 R/ParentTree <</Nums[{' '.join(parents)}]>>>>"
    return number, True


def _outlines(objects, sheets, kids, outline, number):
    if not outline:
        return number, 0
    root = number
    numbers = [root + 1 + n for n in range(len(outline))]
    children = {root: []}
    stack = [(0, root)]
    for (level, _, _, _), own in zip(outline, numbers, strict=True):
        while stack[-1][0] >= level:
            stack.pop()
        children.setdefault(stack[-1][1], []).append(own)
        stack.append((level, own))
    parent = {child: owner for owner, group in children.items() for child in group}
    for (_, title, page, y), own in zip(outline, numbers, strict=True):
        group = children[parent[own]]
        place = group.index(own)
        links = f"/Prev {group[place - 1]} 0 R" if place else ""
        links += f"/Next {group[place + 1]} 0 R" if place + 1 < len(group) else ""
        mine = children.get(own)
        links += f"/First {mine[0]} 0 R/Last {mine[-1]} 0 R/Count {len(mine)}" if mine else ""
        words = f"\ufeff{title}".encode("utf-16-be").hex()
        view = "Fit" if y is None else f"XYZ 0 {sheets[page - 1].height - y} 0"
        goal = f"/Dest[{kids[page - 1]} 0 R/{view}]"
        objects[own] = f"<</Title<{words}>/Parent {parent[own]} 0 R{goal}{links}>>"
    top = children[root]
    objects[root] = f"<</Type/Outlines/First {top[0]} 0 R/Last {top[-1]} 0 R/Count {len(top)}>>"
    return numbers[-1] + 1, root


def _assembled(objects, catalog, info, encrypt):
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number in sorted(objects):
        places[number] = len(out)
        out += f"{number} 0 obj\n{objects[number]}\nendobj\n".encode("latin-1")
    start = len(out)
    size = max(objects) + 1
    out += f"xref\n0 {size}\n0000000000 65535 f \n".encode()
    for number in range(1, size):
        used = number in places
        out += f"{places.get(number, 0):010d} {0 if used else 65535:05d} {'n' if used else 'f'} \n".encode()
    # The keys of a password that nobody knows: the standard handler with random owner and user strings.
    strings = f"/O<{'5a' * 32}>/U<{'a5' * 32}>"
    locked = f"/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -4{strings}>>/ID[<{'11' * 16}><{'11' * 16}>]"
    out += f"trailer\n<</Size {size}/Root {catalog} 0 R/Info {info} 0 R{locked if encrypt else ''}>>\n".encode()
    out += f"startxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


# ---------------------------------------------------------------- passwords

_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_RIGHTS = (-4).to_bytes(4, "little", signed=True)
_ID = b"\x11" * 16


def locked(raw, owner, user=""):
    """A file of ``pdf()`` encrypted (RC4, 128 bits, revision 3); with an empty ``user`` anybody may read it."""
    owners = _md5_often(_padded(owner))
    o = _padded(user)
    for n in range(20):
        o = _rc4(bytes(b ^ n for b in owners), o)
    key = _md5_often(_padded(user) + o + _RIGHTS + _ID)
    u = hashlib.md5(_PAD + _ID, usedforsecurity=False).digest()
    for n in range(20):
        u = _rc4(bytes(b ^ n for b in key), u)
    raw = re.sub(
        rb"(\d+) 0 obj\n(<<[^\n]*>>\nstream\n)(.*?)(?=\nendstream)", lambda m: _stream(m, key), raw, flags=re.S
    )
    handler = f"/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -4/O<{o.hex()}>/U<{(u + bytes(16)).hex()}>>>"
    return raw.replace(b"/Info ", f"{handler}/ID[<{_ID.hex()}><{_ID.hex()}>]/Info ".encode(), 1)


def _stream(match, key):
    number = int(match[1])
    own = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0", usedforsecurity=False).digest()
    return match[1] + b" 0 obj\n" + match[2] + _rc4(own, match[3])


def _padded(password):
    return (password.encode("latin-1") + _PAD)[:32]


def _md5_often(start):
    for _ in range(51):
        start = hashlib.md5(start, usedforsecurity=False).digest()
    return start


def _rc4(key, data):
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
