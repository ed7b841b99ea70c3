"""Learning from whole episodes.

rnad.py     the algorithm, from top to bottom
config.py   every number of it: configuration, command line and help in one
data.py     episodes -> batches, by replay through the engine
learner.py  the networks, the optimizer, one update
source.py   where episodes come from: streams, files, folders
taken.py    from how many episodes of which files a run has learned
metrics.py  what there is to tell of a step
tensorboard.py  the same for TensorBoard
ranks.py    several learners that work as one
run.py      the loop around it: published weights, checkpoints, metrics
"""
