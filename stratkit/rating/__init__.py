"""How strong players are, from the games they played.

reading.py     game records -> a pool
pool.py        a pool: who played whom and how it ended, as arrays
selection.py   which players are rated, and under which names
groups.py      what games cannot tell: groups that never met, or won everything
fit.py         the model, and its most likely parameters
bootstrap.py   ratings with intervals
elo.py         ratings game by game
residuals.py   where one number cannot tell the players' strength
report.py      all that is said, and as JSON (formats/rating.md)
tables.py      tables as text and CSV
svg.py         pictures for the page
html.py        the page
plot.py        pictures as PNG
"""
