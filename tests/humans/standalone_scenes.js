// What a person is shown in the games of a page, who says these words at its turns:
//     node standalone_scenes.js FOLDER PAGE.html WORDS.json
// FOLDER has module.js and match.js. WORDS.json: {"seed": "7", "games": [[...], ...]}
const fs = require("fs"), path = require("path"), vm = require("vm");
const [folder, ...files] = process.argv.slice(2), [page, words] = files.map(file => fs.readFileSync(file, "utf8"));
const code = ["module.js", "match.js"].map(name => fs.readFileSync(path.join(folder, name), "utf8")).join("");
vm.runInThisContext(`${code}; class Board { static FILES = "ABCDEFGHIK"; } Object.assign(globalThis, {Module, Match});`);
const part = id => new RegExp(`<script type="text/plain" id="${id}">([^<]*)`).exec(page)[1];
const bytes = id => Uint8Array.from(Buffer.from(part(id), "base64"));
const facts = JSON.parse(part("facts-of-match")), {seed, games} = JSON.parse(words);

Module.open(bytes("engine"), facts, bytes("network").buffer).then(module => {
    let kept = null;
    const begin = before => new Match(module, {...facts, seed: BigInt(seed)}, before, now => { kept = now; });
    let match = begin({number: 0, actions: []});
    const scenes = games.map(said => said.map((word, at) => {
        if (at % 7 === 6) {  // a move is taken back, and made again; the page is loaded again
            match.say(match.version, "undo");
            match.say(match.version, said[at - 1]);
            match = begin(JSON.parse(JSON.stringify(kept)));
        }
        const {scene} = match;
        match.say(match.version, word);
        return scene;
    }));
    console.log(JSON.stringify({scenes, games: match.ended.map(({result}) => result)}));
});
