"""Search: from a blueprint, worlds and a budget to a policy and values of moves at a decision.

blueprint.py  what search needs of the policy that it improves
side_state.py  what the side that acts may ask of its game
decision.py   a decision, what was found there, and what every search is
beliefs.py    worlds as the mover may believe in them
rollouts.py   games played on by the blueprint
mmd.py        one step of magnetic mirror descent at a decision
pimc.py       MCTS in known worlds, and determinized search: what the trees of some come to together
subgame.py    public belief states: CFR-D, CFR-AVG and FLOP in subgames
leaves.py     what hands may expect where a subgame ends
generate.py   self-play at public belief states: examples for a value network
equilibrium.py  a simultaneous turn as a game between candidates
joint.py      the same among any number of players
regret_matching.py  sampled regret matching between any number of players
turn.py       play by equilibria of simultaneous turns
safe.py       whole games by search at public belief states
endgame.py    re-solving endgames of Stratego, where either side has few hands
value_error.py  how far a value network is from exact values
"""
