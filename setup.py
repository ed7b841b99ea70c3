import collections
import pathlib
import runpy

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).parent
# The manual's pages of formats are made, not kept; the rest is in pyproject.toml.
runpy.run_path(str(ROOT / "man/make.py"), run_name="__main__")
flags_of = runpy.run_path(str(ROOT / "cengine/build_cffi.py"))["flags_of"]


class BuildEngine(build_ext):
    """Compiles each file by its own flags; setuptools has the same for all."""

    def build_extension(self, ext: Extension) -> None:
        groups = collections.defaultdict(list)
        for source in ext.sources:
            groups[tuple(flags_of(source))].append(source)
        for flags, sources in groups.items():
            ext.extra_objects += self.compiler.compile(
                sources,
                output_dir=self.build_temp,
                macros=ext.define_macros,
                include_dirs=ext.include_dirs,
                debug=self.debug,
                extra_postargs=[*ext.extra_compile_args, *flags],
                depends=ext.depends,
            )
        ext.sources = []
        self.force = True  # setuptools looks at times of files, and flags have none
        super().build_extension(ext)


setup(
    cffi_modules=["cengine/build_cffi.py:ffibuilder"],
    cmdclass={"build_ext": BuildEngine},
)
