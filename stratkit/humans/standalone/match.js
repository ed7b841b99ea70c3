"use strict";
// A match in the page itself: it answers what play.html asks of the one that serves the page. Only the
// person's side of it reaches the page; the rest lies in the module's memory. `keep` is called with
// what `begun` of a later one can be, whenever the person has to act.
class Match {
    static HIDDEN = 15;  // a type that is not known
    static NONE = 255;  // of a setup: no piece

    constructor(module, facts, begun, keep) {
        Object.assign(this, facts, {module, keep, ended: [], replays: new Map(), version: 0, waiting: []});
        this.messages = ["Everything happens in this page: what your opponent hides lies in its memory, too."];
        this.start(begun.number, begun.actions, begun.opponent);
    }

    // ---- what the page asks ----

    async state(after) {
        if (this.version <= after) await new Promise(done => this.waiting.push(done));
        const {version, game, ended, scene, advice, messages} = this, against = this.met;
        const match = {against, of: game, me: "you", players: ["you", against], people: 1,
                       hints: true, undoes: true, draws: false};
        return JSON.stringify({version, phase: "ask", match, ended, scene, advice, messages});
    }

    say(version, word) {
        if (version !== this.version) return false;
        [this.messages, this.advice] = [[], null];
        if (this.scene.kind === "choice") this.meet(word);
        else if (this.scene.kind === "offer") this.arrange(word);
        else if (word === "?") this.advise();
        else if (word === "undo") this.undo();
        else if (word === "resign") this.end("lost", "resigned");
        else this.move(word);
        this.publish();
        return true;
    }

    publish() {
        this.version++;
        this.keep({id: this.id, seed: String(this.seed), number: this.number, actions: this.module.actions,
                   opponent: this.opponent});
        for (const done of this.waiting.splice(0)) done();
    }

    refuse(word) { this.messages = [`This page does not understand: ${word}`]; }

    // ---- a game ----

    // Begins a game, or goes on after these actions against that opponent.
    start(number, actions = [], opponent = this.opponents.length > 1 ? null : 0) {
        Object.assign(this, {number, side: (number + this.first) % 2, log: [], drawn: 0, advice: null, opponent});
        this.module.meet(this.opponents[opponent ?? 0]);
        if (opponent === null) this.ask();
        else this.lead(actions);
        if (!this.version) this.publish();
    }

    // The name of who is met.
    get met() { return this.opponents[this.opponent]?.name ?? this.against; }

    // Asks for the level of the opponent.
    ask() {
        const levels = this.opponents.map(({level}) => level);
        const facts = [`${levels[0]} is the weakest level of this page, ${levels.at(-1)} the strongest`];
        for (const {name} of this.opponents) {
            const games = this.ended.filter(({met}) => met === name), sum = games.reduce((all, {points}) => all + points, 0);
            if (games.length) facts.push(`you have ${sum} of ${games.length} against ${name}`);
        }
        this.scene = {kind: "choice", game: this.number + 1, side: this.side ? "second" : "first", column: "level",
                      facts, cells: null, actions: Object.fromEntries(levels.map((level, at) => [level, at])), resigns: false};
    }

    meet(word) {
        if (Object.hasOwn(this.scene.actions, word)) this.start(this.number, [], this.scene.actions[word]);
        else this.refuse(word);
    }

    lead(actions) {
        for (let at = 0; at < actions.length;)
            if (!this.module.phase) this.module.apply(actions[at++]);
            else this.ply(actions[at++], () => actions[at++]);
        this.go();
    }

    // The other one acts until the person has to, or the game is over.
    go() {
        const module = this.module;
        while (module.actor >= 0 && module.actor !== this.side)
            if (module.phase) this.ply(this.choose(), () => this.choose());
            else module.apply(this.choose());
        if (module.actor < 0) {
            const {winner} = module;
            this.end(winner < 0 ? "drew" : winner === this.side ? "won" : "lost", module.endingName);
        } else if (module.phase) this.turn();
        else this.offer(this.own ?? this.another());
    }

    choose() { return this.module.choose(this.seed, this.number); }
    framed(square, side = this.side) { return side ? this.squares - 1 - square : square; }

    // A move of who is to act: a piece, and its destination, which may depend on the piece.
    ply(start, choose) {
        const module = this.module, side = module.actor, before = module.cells;
        module.apply(start);
        const end = choose();
        module.apply(end);
        const [from, to] = [this.framed(start, side), this.framed(end, side)], after = module.cells;
        const fought = Boolean(before[to] & 128), shown = fought || side === this.side || after[to] & 32;
        this.log.push({side, from, to, before, piece: shown ? before[from] & 15 : Match.HIDDEN,
                       enemy: fought ? before[to] & 15 : null, left: after[to] & 192});
    }

    move(word) {
        const squares = this.read(word, /^([A-K]\d+)([A-K]\d+)$/), [from, to] = squares ?? [];
        if (!this.scene.moves.some(move => move[0] === from && move[1] === to)) return this.refuse(word);
        this.ply(this.framed(from), () => this.framed(to));
        this.go();
    }

    undo() {
        const plies = this.log.length - 2;
        if (plies < 0) return this.refuse("undo");
        this.module.back(2 * (this.pieces + plies));
        this.log.length = plies;
        this.turn();
    }

    end(how, reason) {
        const result = `game ${this.number + 1}: you ${how} (${reason.replaceAll("_", " ")})`;
        const side = this.side ? "blue" : "red", plies = this.log.length;
        const points = {won: 1, drew: .5, lost: 0}[how], {met} = this;
        this.ended = [...this.ended, {game: this.number + 1, side, result, plies, told: [], points, met}];
        this.replays.set(this.number + 1, this.replay(result));
        this.start(this.number + 1);
    }

    advise() {
        const best = this.module.plan().sort((a, b) => b[2] - a[2]).slice(0, 5);
        const moves = best.map(([start, end, share]) => {
            const [from, to] = [this.framed(start), this.framed(end)];
            return [this.name(from) + this.name(to), from, to, Math.round(1000 * share) / 10];
        });
        this.advice = {value: Math.round(1000 * this.module.value) / 1000, moves};
    }

    // ---- setups: the type on each square of the person's zone, or none ----

    arrange(word) {
        const {setup} = this, swap = this.read(word, /^swap ([A-K]\d+) ([A-K]\d+)$/)?.map(at => this.framed(at));
        if (word === "") return this.deploy(setup);
        if (word === "another") return this.offer(this.another());
        if (word === "mirror") return this.offer(setup.map((_, at) =>
            setup[at + this.width - 1 - 2 * (at % this.width)]));
        if (!swap?.every(at => this.places.includes(at))) return this.refuse(word);
        const swapped = [...setup];
        [swapped[swap[0]], swapped[swap[1]]] = [setup[swap[1]], setup[swap[0]]];
        this.offer(swapped);
    }

    offer(setup) {
        this.setup = setup;
        const cells = this.module.cells.map(cell => cell === 1 ? 1 : 0);
        setup.forEach((type, at) => { if (type !== Match.NONE) cells[this.framed(at)] = 128 | 64 * this.side | type; });
        this.scene = {kind: "offer", ...this.board(cells), zone: this.places.map(at => this.framed(at))};
    }

    deploy(setup) {
        const module = this.module, left = [...setup];
        while (module.phase === 0 && module.actor === this.side) {
            const square = left.indexOf(module.toPlace);
            left[square] = Match.NONE;
            module.apply(square);
        }
        this.go();
    }

    // What the network would set up, by the seeds that follow the match's.
    another() {
        const module = this.module, before = module.actions.length;
        const seed = BigInt.asUintN(64, this.seed + BigInt(++this.drawn));
        while (module.phase === 0 && module.actor === this.side) module.apply(module.choose(seed, this.number));
        const cells = module.cells;
        module.back(before);
        return Array.from({length: this.zone}, (_, at) => {
            const cell = cells[this.framed(at)];
            return cell & 128 ? cell & 15 : Match.NONE;
        });
    }

    // ---- what the person may know ----

    turn() {
        const {log, module, side} = this, cells = module.cells, lost = [0, 1].map(() => [...this.counts]);
        const hidden = this.counts.map(() => 0);
        for (const cell of cells.filter(cell => cell & 128)) {
            lost[cell & 64 ? 1 : 0][cell & 15]--;
            if (Boolean(cell & 64) !== Boolean(side) && !(cell & 32)) hidden[cell & 15]++;
        }
        const last = log.at(-1);
        this.scene = {
            kind: "turn", ...this.board(cells), ply: module.plies,
            moves: module.moves().map(move => move.map(square => this.framed(square))),
            last: last ? [last.from, last.to] : null, new: Math.min(2, log.length),
            log: log.map(ply => [this.told(ply), ply.from, ply.to, ply.enemy !== null, this.noted(ply)]),
            lost: {red: this.listed(lost[0]), blue: this.listed(lost[1])}, hidden: this.listed(hidden),
        };
    }

    board(cells) {
        const {number, side, width, height} = this;
        return {game: number + 1, side: side ? "blue" : "red", width, height,
                board: Array.from(cells, cell => this.piece(cell))};
    }

    piece(cell) {
        if (!(cell & 128)) return cell === 1 ? "lake" : null;
        const side = cell & 64 ? "blue" : "red", known = Boolean(cell & 32), moved = cell & 16;
        if (known || (side === "blue") === Boolean(this.side))
            return {side, text: this.ranks[cell & 15], name: this.types[cell & 15], known};
        return {side, text: moved ? "•" : "", name: moved ? "a piece that has moved" : "a piece", known};
    }

    listed(counts) {
        return [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11, 0].filter(type => counts[type])
            .map(type => [this.ranks[type], counts[type]]);
    }

    told({side, from, to, piece, enemy, left}) {
        const [whose, other] = side === this.side ? ["your", "their"] : ["their", "your"];
        const mine = `${whose} ${piece === Match.HIDDEN ? "piece" : this.types[piece]}`;
        if (enemy === null) return `${mine} went from ${this.name(from)} to ${this.name(to)}`;
        const theirs = `${other} ${this.types[enemy]}`;
        if (enemy === 0) return `${mine} took ${theirs} on ${this.name(to)}`;
        const fallen = left ? `${left === (128 | 64 * side) ? theirs : mine} is lost` : "both are lost";
        return `${mine} met ${theirs} on ${this.name(to)}: ${fallen}`;
    }

    // As `ply_text` of Python writes it.
    noted({side, from, to, piece, enemy, left}) {
        const move = this.name(from) + this.name(to), sign = left ? "<>"[Number(left === (128 | 64 * side))] : "=";
        return enemy === null ? move : `${move} ${this.ranks[piece]}${sign}${this.ranks[enemy]}`;
    }

    name(square) { return Board.FILES[square % this.width] + (Math.floor(square / this.width) + 1); }

    // The squares that a word names; null: it is no such word.
    read(word, form) {
        return form.exec(word)?.slice(1).map(
            text => Board.FILES.indexOf(text[0]) + this.width * (Number(text.slice(1)) - 1)) ?? null;
    }

    // ---- a game that is over, as a page ----

    replay(result) {
        const {log, width, height} = this, letters = [...log.map(ply => ply.before), this.module.cells].map(
            cells => Array.from(cells, cell => this.letter(cell)));
        const changes = letters.slice(1).map((now, i) =>
            now.flatMap((letter, at) => letter === letters[i][at] ? [] : [at, letter]));
        const players = this.side ? [this.met, "you"] : ["you", this.met];
        const shown = {width, height, title: result, players, result, texts: log.map(ply => this.noted(ply)), board: letters[0], changes,
                       moves: log.map(({from, to}) => [from, to]), analyst: "", analysis: [], go_on: "", first: 0};
        const data = JSON.stringify({ranks: this.letters.map(type => this.ranks[type]), games: [shown]});
        return this.template.replace(this.mark, () => data.replaceAll("<", "\\u003c"));
    }

    // As in FENfS: a small one if both know it; `*` behind those that have moved.
    letter(cell) {
        if (!(cell & 128)) return cell === 1 ? "_" : "A";
        const letter = String.fromCharCode((cell & 64 ? 78 : 66) + this.letters.indexOf(cell & 15));
        return (cell & 32 ? letter.toLowerCase() : letter) + (cell & 16 ? "*" : "");
    }
}
