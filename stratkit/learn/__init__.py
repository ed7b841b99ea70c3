"""Learning: each algorithm a file that reads like its paper, and a loop that knows none of them.

algorithm.py    what the optimizer needs of an algorithm
rnad.py         R-NaD, from top to bottom
mmd.py          magnetic mirror descent, likewise
nashpg.py       PPO, and NashPG
alphaze.py      AlphaZero's loss: what a search has found
belief.py       beliefs about hidden pieces
rebel.py        ReBeL's value network, from examples of values
buffer.py       the newest examples, and updates from draws of them
v_trace.py      R-NaD's value estimates
advantages.py   MMD's and PPO's advantages and values
averaging.py    networks that follow the trained one
magnet.py       the policy that pulls
losses.py       targets and losses that algorithms have in common
step_weights.py what each step counts in the loss, and outcomes
exploded.py     whether an update has made the weights useless
optimizer.py    one update of any algorithm: chunks, threads, ranks, precision, Adam
memory.py       how many views have room in the memory of the device
config.py       every setting
algorithm_kinds.py  the algorithms by name: the built-in ones, and a class of the user's own
batch_spec.py   what an algorithm wants batches to hold
presets.py      settings that go with a kind of network
request.py      what `train` is asked for, and where its settings come from
inputs.py       whether the inputs can be read, and who makes some of what is none
replayed.py     the episodes of a batch, replayed, and what is wrong with them
data.py         episodes -> batches: steps, and the different views in them
streams.py      what is in a stream, episodes or examples, and batches made of it
source.py       where they come from: pipes, files, folders
pipes.py        several pipes, side by side
window.py       old episodes that are learned from again
consumed.py     from how many episodes of which files a run has learned
metrics.py      the metrics of a step
curves.py       the metrics of several runs as a picture
tensorboard.py  the same for TensorBoard
ranks.py        several learners that work as one
folder.py       a run's folder: its lock, its checkpoints
publisher.py    weights for self-play, written while steps go on
run.py          the loop around all of it: published weights, checkpoints, metrics
"""
