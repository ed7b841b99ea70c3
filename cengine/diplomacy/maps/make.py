"""Makes ../maps.c of the maps beside this file: the engine has them inside it."""

import pathlib

FOLDER = pathlib.Path(__file__).parent
HEAD = """/* Made by maps/make.py from the maps there: change those. */
#include <string.h>

#include "diplomacy.h"

static const struct {
    const char *name, *text;
} maps[] = {
"""
TAIL = """};

const char *dip_map_text(const char *name)
{
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        if (!strcmp(maps[i].name, name))
            return maps[i].text;
    return NULL;
}
"""


def text() -> str:
    """What maps.c must hold."""
    rows = []
    for path in sorted(FOLDER.glob("*.map")):
        kept = (line.partition("#")[0].rstrip() for line in path.read_text().splitlines())
        lines = [f'     "{line}\\n"\n' for line in kept if line]
        rows.append(f'    {{"{path.stem}",\n{"".join(lines)}    }},\n')
    return "/* clang-format off */\n" + HEAD + "".join(rows) + TAIL


if __name__ == "__main__":
    (FOLDER.parent / "maps.c").write_text(text())
