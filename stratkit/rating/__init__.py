"""How strong players are, from the games they played.

pool.py     game records -> who scored what against whom, pair by pair
elo.py      the pool -> ratings by maximum likelihood, with 95 % intervals
report.py   ratings -> text and JSON (formats/rating.md)
plot.py     ratings -> picture
"""
