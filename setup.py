import collections
import itertools
import pathlib
import runpy
import tarfile
import tomllib

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).parent
EPOCH = 315532800  # 1980, before which zip files know no time
# The manual's pages of formats are made, not kept; the rest is in pyproject.toml.
runpy.run_path(str(ROOT / "man/make.py"), run_name="__main__")
flags_of = runpy.run_path(str(ROOT / "cengine/build_cffi.py"))["flags_of"]


class BuildEngine(build_ext):
    """Compiles each file by its own flags; setuptools has the same for all."""

    def build_extension(self, ext: Extension) -> None:
        sources, others = ext.sources, ext.extra_objects
        groups = collections.defaultdict(list)
        for source in sources:
            groups[tuple(flags_of(source))].append(source)
        compiled = [
            self.compiler.compile(
                group,
                output_dir=self.build_temp,
                macros=ext.define_macros,
                include_dirs=ext.include_dirs,
                debug=self.debug,
                extra_postargs=[*ext.extra_compile_args, *flags],
                depends=ext.depends,
            )
            for flags, group in groups.items()
        ]
        ext.sources, ext.extra_objects = [], [*others, *itertools.chain(*compiled)]
        self.force = True  # without sources setuptools sees nothing that is new, and does not link
        super().build_extension(ext)
        ext.sources, ext.extra_objects = sources, others


class BuildPackage(build_py):
    """With the examples in one archive: as files they would take 28 KB more of a wheel."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # where the examples themselves are at hand
            pack_examples(pathlib.Path(self.build_lib, "stratkit/examples.tar.xz"))


def pack_examples(archive: pathlib.Path) -> None:
    """The same bytes from the same files."""

    def nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.mtime = EPOCH
        member.uname = member.gname = ""
        member.mode = 0o755 if member.mode & 0o100 else 0o644
        return member

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["stratkit"]
    folder = ROOT / "examples"
    files = {file for one in settings["examples"] for file in folder.glob(one) if file.is_file()}
    with tarfile.open(archive, "w:xz") as out:
        for file in sorted(files):
            out.add(file, file.relative_to(folder), filter=nobodys)


setup(
    cffi_modules=["cengine/build_cffi.py:ffibuilder"],
    cmdclass={"build_ext": BuildEngine, "build_py": BuildPackage},
)
