"use strict";
// The module engine.wasm: a game against one of its networks. Squares and cells are absolute, actions and views
// in the acting side's frame, as in cengine/page/page.c.
class Module {
    static async open(bytes, facts, weights) {
        if (!globalThis.WebAssembly) throw new Error("this browser has no WebAssembly");
        const script = {exp: Math.exp, pow: Math.pow};
        const {instance} = await WebAssembly.instantiate(bytes, {script});
        return new Module(instance.exports, facts, weights);
    }

    constructor(has, {game, rules, networks, opponents, squares}, weights) {
        Object.assign(this, {has, squares});
        let from = 0;
        this.pages = networks.map(({sizes, bytes}) => {
            const at = this.put(new Uint8Array(weights.slice(from, from += bytes)));
            const page = has.open(this.text(game), this.text(rules), ...sizes, at);
            if (!page || from > weights.byteLength || 4 * has.weights(page) !== bytes)
                throw new Error("the network is not the one that belongs to this page");
            return page;
        });
        this.meet(opponents[0]);
    }

    // A game against this network, whose policy is processed so.
    meet({network, processing}) {
        this.page = this.pages[network];
        this.has.process(this.page, ...processing);
        this.reset();
    }

    // ---- memory ----

    put(bytes) {
        const at = this.has.room(bytes.length);
        if (!at) throw new Error("there is too little memory");
        new Uint8Array(this.has.memory.buffer, at, bytes.length).set(bytes);
        return at;
    }

    text(text) { return this.put(new TextEncoder().encode(`${text}\0`)); }
    bytes(at, n) { return new Uint8Array(this.has.memory.buffer, at, n).slice(); }

    // ---- the game ----

    reset() {
        this.actions = [];
        this.has.reset(this.page);
    }

    apply(action) {
        if (!this.has.apply(this.page, action)) throw new Error(`not legal: ${action}`);
        this.actions.push(action);
    }

    // Goes back to where the game had so many actions.
    back(to) {
        const again = this.actions.slice(0, to);
        this.reset();
        for (const action of again) this.apply(action);
    }

    get actor() { return this.has.actor(this.page); }
    get phase() { return this.has.phase(this.page); }  // 0 deployment, 1 a piece, 2 its destination
    get plies() { return this.has.plies(this.page); }
    get winner() { return this.has.winner(this.page); }
    get endingName() {
        const at = this.has.ending_name(this.page), all = new Uint8Array(this.has.memory.buffer, at);
        return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
    }
    get toPlace() { return this.view[11]; }  // the type, in deployment
    get cells() { return this.bytes(this.has.cells(this.page), this.squares); }
    get view() { return this.bytes(this.has.view(this.page), 172 + this.squares); }
    get legal() { return this.bytes(this.has.legal(this.page), this.squares); }

    // Legal moves where a move begins, in the acting side's frame.
    moves() {
        return this.pairs(this.has.moves(this.page));
    }

    pairs(n) {
        const all = this.bytes(this.has.pairs(this.page), 2 * n);
        return Array.from({length: n}, (_, i) => [all[2 * i], all[2 * i + 1]]);
    }

    // ---- the player ----

    // Its next action, by a seed below 2 ** 64 and the number of the game.
    choose(seed, game) {
        return this.has.choose(this.page, Number(seed & 0xffffffffn), Number(seed >> 32n), game,
                               this.actions.length);
    }

    // What it would expect, where a piece moves.
    get value() { return this.has.value(this.page); }

    // Its policy where a move begins: [[from, to, probability], ...].
    plan() {
        const n = this.has.plan(this.page);
        const shares = new Float32Array(this.has.memory.buffer, this.has.shares(this.page), n);
        return this.pairs(n).map((pair, i) => [...pair, shares[i]]);
    }
}
