"""How strong players are, from the games they played.

options.py     what `rate` is asked for
runner.py      from files of games to a report
reading.py     game records and results -> a pool
pool.py        a pool: who played whom and how it ended, as arrays
selection.py   which players are rated, and under which names
groups.py      what games cannot tell: groups that never met, or won everything
tallies.py     the games of a group as the model asks for them
elo.py         maximum-likelihood Elo: Davidson's model and its fit; Elo game by game
bootstrap.py   ratings with intervals
shares.py      games of more than two players: the mean score of one alone among others
luce.py        ratings of any number of players a game: Plackett and Luce's model
onemore.py     what few games cannot tell: the Elo between two players
distinct.py    identical games, and what of them counts
sprt.py        the sequential test of one player against another
residuals.py   where one number cannot tell the players' strength
report.py      all that is said, and as JSON (formats/rating.md)
tables.py      tables as text and CSV
svg.py         pictures for the page
html.py        the page
plot.py        pictures as PNG
"""
