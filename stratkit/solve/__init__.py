"""Exact tools for small games.

    exploitability.py   what a policy is worth: value, best responses, NashConv, exploitability
    large.py            the same in games too large for a tree
    sets.py             what a player plays in each information set
    responses.py        best responses as players
    tables.py           policies of networks that are kept in a file
    cfr.py              counterfactual regret minimisation and its variants
    fictitious_play.py  fictitious play, plain, with linear averages, and optimistic (FLOP)
    mmd.py              magnetic mirror descent, with exact expectations
    determinized.py     what determinized search comes to with all worlds
    regret_matching.py  sampled regret matching of a game that is one simultaneous turn
    tabular.py          R-NaD on any tree, with exact expectations
    solver.py           solvers by name
    learned.py          what `exploit --learn` asks for: best responses that are learned
    curve.py            what they win by steps, as a table and as JSON
    exploiters.py       the learners that exploit one frozen player, and their folder
    options.py          the options of `exploit --learn`
    runner.py           what `exploit` asks for: policies by name, networks among them
    judge.py            a judge of the policies of one game, whatever a policy of it is
    tree_judge.py       the judge where there is a tree
    large_judge.py      the judge where there is none
    report.py           exploitabilities as a table and as JSON
    plot.py             pictures (matplotlib, an extra)

The tree itself, with the loops in C, is `stratkit.engine.Tree`.
"""
