// Plays games again by the module of a page, and says where it would have acted otherwise:
//     node standalone_check.js module.js PAGE.html GAMES.json
// GAMES.json: {"seed": "7", "games": [{"game": 0, "actions": [...]}, ...]}
const fs = require("fs"), vm = require("vm");
const [code, page, games] = process.argv.slice(2).map(path => fs.readFileSync(path, "utf8"));
vm.runInThisContext(`${code}; globalThis.Module = Module;`);
const part = id => new RegExp(`<script type="text/plain" id="${id}">([^<]*)`).exec(page)[1];
const bytes = id => Uint8Array.from(Buffer.from(part(id), "base64"));

Module.open(bytes("engine"), JSON.parse(part("facts-of-match")), bytes("network").buffer).then(module => {
    const {seed, games: all} = JSON.parse(games), different = [], values = [];
    let compared = 0;
    for (const {game, actions} of all) {
        module.reset();
        for (const [number, action] of actions.entries()) {
            const chosen = module.choose(BigInt(seed), game);
            compared++;
            if (module.phase) values.push(module.value);
            if (chosen !== action) different.push({game, number, chosen, action});
            module.apply(action);
        }
        if (module.actor !== -2) different.push({game, over: false});
    }
    console.log(JSON.stringify({compared, different, values}));
});
