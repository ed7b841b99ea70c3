"""A person at a board: terminal and page, what was seen, what was said, going on.

options.py            the options that are for a person
kind.py               a person as a kind of player
human.py              a person as a player: what is typed becomes moves
chooser.py            a person in a game of single actions: cards, dice, stones, a matrix
choice.py             what such a person sees, and such a game told
orderer.py            a person in Diplomacy: orders of a phase are typed, checked and sent
phase.py              what such a person sees
session.py            a person's place at a front end: what is shown and asked, and what is kept
observed_game.py      what a side has seen of its game, in words
front_end.py          who of a match is a person, and at which front end
seating.py            seats them, and keeps what they say beside the record
ending.py             what is shown and told of a game that is over
terminal.py           the terminal
hand_over.py          two people at one terminal, and the screen between their turns
live_page.py          the state of a page, which asks for it again and again
browser.py            the page of a person, as a front end
spectators.py         the page of those who watch
pages.py              the pages of a match, and a rematch
page_server.py        serves pages to those who have their addresses; invitations
page_connections.py   what others may take of that server: little
scenes.py             what a person may know, as JSON for the page
draws.py              offers of a draw
live_clock.py         a person's clock, which counts down
take_back.py          a move is taken back by leave of the other one
level_choice.py       the level of the opponent is chosen before each game
lead.py               goes on from a ply of a game that others have played
words.py              what was said and played in a match that goes on, and taken back
move_log.py           the log that people read
replayed_opponent.py  what an opponent has played is played again when a match is resumed
"""
