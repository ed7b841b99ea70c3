"""A page that needs neither match nor server: engine, network and board in one file.

page.py       writes it: `match human PLAYER --page FILE.html`
start.js      opens what the page holds, and answers what play.html asks
match.js      the match in the page
module.js     the module's functions, for scripts
engine.wasm   the module, Stratego and a network: cengine/page/build.py makes it
"""
