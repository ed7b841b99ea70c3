"""Draws where pieces stand: uniformly, in people's setups, and in setups of a model of these.

    python examples/heat_maps.py people.setups heat_maps.png

The model is fitted to five sixths of the file (of classic or any other game, gzipped or not), and
compared with the last sixth. Prints the figures of the DeepNash paper's section 3.3.1, and the mean
of -log p of the setups held out. (Needs matplotlib, the extra [plot].)
"""

import gzip
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the model's matrices are small

import time

import numpy as np

from stratkit.engine.stratego import VARIANTS
from stratkit.notation.heat_maps import plot
from stratkit.notation.setups import read_setups, variant_of
from stratkit.notation.statistics import SetupFigures
from stratkit.script import Parser
from stratkit.setups.constraints import constraints_of
from stratkit.setups.model import ModelPlacer, fit
from stratkit.setups.placing import PlacedSetups
from stratkit.setups.source import Entropy, setups_of
from stratkit.setups.uniform import UniformSetups

N = 20_000  # setups that are drawn

parser = Parser(__doc__)
parser.add_argument("setups", metavar="SETUPS")
parser.add_argument("picture", metavar="PICTURE", nargs="?")
asked = parser.parse_args()
path = asked.setups
with (gzip.open if path.endswith(".gz") else open)(path, "rb") as stream:
    people = [setup for _, setup in read_setups(stream, path) if isinstance(setup, np.ndarray)]
variant = VARIANTS[variant_of(people[0]).name]
people = np.stack(people)[np.random.default_rng(1).permutation(len(people))]
cut = len(people) * 5 // 6
seen, held_out = people[:cut], people[cut:]

free = constraints_of(variant)
began = time.process_time()
model = PlacedSetups(ModelPlacer(fit(variant, seen), 1), free)
print(f"{variant.name}: fitted to {cut} setups in {time.process_time() - began:.1f} s of CPU time")
uniform = UniformSetups(free, 1)

columns = []
for name, setups in (
    ("uniform", np.concatenate(list(setups_of(uniform, N, unique=False)))),
    ("people, held out", held_out),
    ("model of the others", np.concatenate(list(setups_of(model, N, unique=False)))),
):
    figures = SetupFigures(variant)
    figures.add(setups)
    columns.append((name, figures))
print(f"{'':42}", *(f"{name:>20}" for name, _ in columns))
for key in columns[0][1].figures():
    print(f"{key:42}", *(f"{figures.figures()[key]:20.3f}" for _, figures in columns))
maps = [figures.maps / figures.count for _, figures in columns]
print(
    f"{'greatest difference of heat maps':42}", *(f"{abs(m - maps[1]).max():20.3f}" for m in maps)
)
for name, setups, source in (
    ("-log p by the model: held out", held_out[:1000], model),
    ("-log p by the model: fitted to", seen[:1000], model),
    ("-log p by the model: its own", model.draw(0, 1000), model),
    ("-log p by uniform", held_out[:1000], uniform),
):
    entropy = Entropy()
    entropy.add(source.logprobs(setups))
    print(f"{name:42} {entropy.mean:.2f} ± {entropy.error:.2f}")
if asked.picture is not None:
    with open(asked.picture, "wb") as stream:
        plot(columns, stream)
