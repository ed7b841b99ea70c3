"""A page that needs neither match nor server: engine, network and board in one file.

page.py       writes it: `match human PLAYER --page FILE.html`
match.js      the match in the page, which answers what play.html asks
module.js     the module's functions, for scripts
engine.wasm   the module, Stratego and a network: cengine/page/build.py makes it
"""
