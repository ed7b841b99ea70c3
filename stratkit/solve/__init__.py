"""Exact tools for small games.

    worth.py       what a policy is worth: value, best responses, NashConv, exploitability
    cfr.py         counterfactual regret minimisation and its variants
    flop.py        fictitious linear optimistic play

The tree itself, with the loops in C, is `stratkit.engine.Tree`.
"""
