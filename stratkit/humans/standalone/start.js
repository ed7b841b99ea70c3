"use strict";
// Opens the module and the match, and answers the page.

// A tab that is loaded again, as phones do with those that were in the background, goes on.
function keep(begun) {
    try { sessionStorage.setItem("match", JSON.stringify(begun)); } catch { /* none is kept */ }
}

function kept(id) {
    try {
        const begun = JSON.parse(sessionStorage.getItem("match"));
        return begun?.id === id ? begun : null;
    } catch { return null; }
}

// What play.html asks by `fetch`, which is all that it asks, is answered here.
const opened = (async () => {
    const read = id => Uint8Array.from(atob(document.getElementById(id).textContent), char => char.charCodeAt(0));
    const facts = JSON.parse(document.getElementById("facts-of-match").textContent);
    const drawn = () => crypto.getRandomValues(new BigUint64Array(1))[0];
    const begun = kept(facts.id) ?? {seed: facts.seed ?? drawn(), number: 0, actions: []};
    const module = await Module.open(read("engine"), facts, read("network").buffer);
    return new Match(module, {...facts, seed: BigInt(begun.seed)}, begun, keep);
})().catch(error => {
    const tell = () => { document.body.textContent = `This page cannot play: ${error.message}.`; };
    if (document.readyState === "complete") tell();
    else addEventListener("load", tell);
    return new Promise(() => {});  // what play.html asks stays without an answer
});

globalThis.fetch = async (address, {body} = {}) => {
    const match = await opened, [, what, number] = /^(\w+)(?:\/|\?after=)?(\d*)/.exec(address);
    if (what === "state") return new Response(await match.state(Number(number)));
    if (what === "game") return new Response(match.replays.get(Number(number)));
    const {version, word} = JSON.parse(body);
    return new Response(null, {status: match.say(version, word) ? 204 : 409});
};
