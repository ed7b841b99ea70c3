"""What a file of weights is, and the networks that come with stratkit.

open_model.py       a file as a policy, a belief or values
export.py           one network of a checkpoint in a file of its own
first_weights.py    the first weights of a run, where they are another network's
flat_weights.py     a network's weights one after the other, for the page without a server
shipped.py          the networks that come with stratkit, by name
trained_network.py  a network for researchers: `stratkit.load`
"""
