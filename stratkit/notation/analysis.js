"use strict";
// What an analysis (formats/analysis.md) says of a game, and learning from its mistakes. It belongs
// to the script of the replay, whose game, board and ply it uses.

const LEAST = .1, CLOSE = .03;  // a mistake's loss; a loss that is none
const GRAPH = {width: 300, height: 90};
let analysis = null;  // of the game that is shown
let task = null;  // {side, mistakes, number, found, tries, arrow, solved}
let better = null;  // {ply, arrow}: a better move than the one that was played there
let picked = null;  // the square of a piece that is to move

const signed = value => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);
const within = error => error === null ? "" : ` ± ${error.toFixed(2)}`;
const other = side => side === "red" ? "blue" : "red";
const squareNames = move => /^([A-Z]\d+)([A-Z]\d+)$/.exec(move).slice(1);
const capital = text => text[0].toUpperCase() + text.slice(1);
const squaresOf = move => squareNames(move).map(name =>
    boards[0].findIndex((_, square) => board.name(square) === name));

function element(tag, text = "", ...children) {
    const made = document.createElement(tag);
    made.textContent = text;
    made.append(...children);
    return made;
}

function button(text, press) {
    const made = element("button", text);
    made.type = "button";
    made.onclick = press;
    return made;
}

// What the analyst thinks of the move that led to this ply.
function opinionText(ply) {
    const one = analysis.plies.get(ply);
    if (!one) return "";
    const moves = one.moves.filter((move, i) => i < 1 || i < 3 && move.share >= .005)
        .map(({move, share}) => `${move} ${percent(share)}`);
    const loss = one.loss > 0 ? `, loss ${one.loss.toFixed(2)}${within(one.loss_error)}` : "";
    return `${one.side} expected ${signed(one.value)}${within(one.error)}; ${game.analyst} plays ` +
        `${moves.join(", ")}; the move played ${percent(one.share)}${loss}`;
}

// The move that the analyst prefers to the one that led to this ply, where that was a mistake.
function betterMove(ply) {
    const one = analysis.plies.get(ply);
    return one && one.loss >= LEAST && one.moves[0].move !== one.move ? squaresOf(one.moves[0].move) : null;
}

function showAnalysis() {
    const of = kind => game.analysis.filter(one => one.kind === kind);
    analysis = {plies: new Map(of("ply").map(one => [one.ply, one])), mistakes: of("mistake"),
                sums: of("game")[0]};
    task = picked = better = null;
    showTask();
    at("analysis").hidden = !analysis.plies.size;
    if (!analysis.plies.size) return;
    drawGraph();
    listMistakes();
    at("accuracy").replaceChildren(...(analysis.sums ? ["red", "blue"] : []).map(side => {
        const {player, accuracy, mean_loss, mean_loss_error} = analysis.sums[side];
        const numbers = accuracy === undefined ? ["–", "–"] :
            [`${accuracy.toFixed(1)} %`, `${mean_loss.toFixed(3)}${within(mean_loss_error)}`];
        const name = element("th", `${side}: ${player}`);
        name.scope = "row";
        return element("tr", "", name, ...numbers.map(text => element("td", text)));
    }));
    at("learn").replaceChildren(...["red", "blue"].map(side => {
        const number = analysis.mistakes.filter(one => one.side === side).length;
        const made = button(`${side}'s mistakes (${number})`, () => startLearning(side));
        made.disabled = !number;
        return made;
    }));
}

// The expectations of both sides, each by what it knew; up is red's.
function drawGraph() {
    const {width, height} = GRAPH, last = Math.max(boards.length - 1, 1);
    const place = (ply, value) => `${width * ply / last},${height / 2 * (1 - value)}`;
    const lines = ["red", "blue"].map(side => {
        const points = [...analysis.plies.values()].filter(one => one.side === side)
            .map(one => place(one.ply - 1, side === "red" ? one.value : -one.value));
        return Board.shape("polyline", {points: points.join(" "), class: `line ${side}`});
    });
    const middle = Board.shape("line", {x2: width, y1: height / 2, y2: height / 2, class: "middle"});
    at("graph").setAttribute("viewBox", `0 -2 ${width} ${height + 4}`);
    at("graph").replaceChildren(middle, ...lines, Board.shape("line", {y2: height, id: "here"}));
    at("graph").onclick = event => {
        const {left, width} = at("graph").getBoundingClientRect();
        go(Math.round(last * (event.clientX - left) / width));
    };
}

function listMistakes() {
    at("no-mistakes").hidden = analysis.mistakes.length > 0;
    at("mistakes").replaceChildren(...analysis.mistakes.map(one => {
        const loss = `${one.loss.toFixed(2)}${within(one.loss_error)}`, best = one.line[0].move;
        const text = `${one.ply}. ${game.texts[one.ply - 1]} (${one.side}): loss ${loss}, rather ${best}`;
        return element("li", "", button(text, event => showBetter(one, event.detail > 0)));
    }));
    for (const {ply, loss} of analysis.plies.values())
        if (loss >= LEAST) at("moves").children[ply - 1].textContent += " ?";
}

// The position before a mistake, with an arrow for the better move. Who has clicked steps on by keys.
function showBetter(mistake, clicked) {
    better = {ply: mistake.ply - 1, arrow: squaresOf(mistake.line[0].move)};
    go(better.ply);
    if (clicked) at("viewer").focus();
}

function drawAnalysis() {
    at("opinion").textContent = task ? "" : opinionText(ply);
    const x = GRAPH.width * ply / Math.max(boards.length - 1, 1);
    if (at("here")) for (const end of ["x1", "x2"]) at("here").setAttribute(end, x);
    showPicked();
}

// ---- learning from mistakes ----

function startLearning(side) {
    stop();
    const mistakes = analysis.mistakes.filter(one => one.side === side);
    task = {side, mistakes, number: 0, found: 0};
    begin();
}

function begin() {
    Object.assign(task, {tries: 0, arrow: null, solved: false});
    picked = null;
    at("knows-" + task.side).checked = true;
    at("knows-" + other(task.side)).checked = false;  // who played did not know it either
    at("flip").checked = task.side === "blue";
    go(task.mistakes[task.number].ply - 1);
    showTask();
    at("try").focus();
}

function leave() {
    const ended = task.mistakes[task.number].ply, {side} = task;
    task = picked = null;
    for (const side of ["red", "blue"]) at("knows-" + side).checked = true;
    go(ended);
    showTask();
    at("learn").children[side === "red" ? 0 : 1].focus();
}

function showTask() {
    at("viewer").classList.toggle("learning", task !== null);
    at("task").hidden = task === null;
    at("told").replaceChildren();
    if (!task) return;
    const one = task.mistakes[task.number];
    at("asked").textContent = `Mistake ${task.number + 1} of ${task.mistakes.length}: ${task.side} ` +
        `played ${one.move} at ply ${one.ply}, and lost ${one.loss.toFixed(2)}` +
        `${within(one.loss_error)} by it. What is better? Choose a move, or a piece and its square on the board.`;
    const moves = one.moves.map(({move}) => move)
        .sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
    at("try").replaceChildren(...moves.map(move => new Option(move)));
    at("knew").replaceChildren(...one.knew.map(({square, could}) => {
        const ranks = Object.entries(could).map(([rank, share]) => `${Board.NAMES[rank] || rank} ${percent(share)}`);
        return element("li", `${square}: ${ranks.join(", ")}`);
    }));
    at("next-task").textContent = task.number + 1 < task.mistakes.length ? "next mistake" : "end";
}

function verdict(one, tried) {
    const sure = tried.loss - 2 * (tried.loss_error || 0);
    if (tried.loss <= CLOSE || sure <= 0) return "as good as the best move";
    if (tried.move === one.move) return "that is the move that was played";
    return tried.loss < one.loss - CLOSE ? "better than what was played, but there is more"
        : "no better than what was played";
}

function why(tried) {
    const parts = [];
    if (tried.takes > 0) parts.push(`it takes a piece in ${percent(tried.takes)}`);
    if (tried.falls > 0) parts.push(`a piece of ${task.side}'s is lost at once in ${percent(tried.falls)}`);
    if (!parts.length) return "Nothing falls at once. ";
    return `${capital(parts.join(", and "))} of the positions that agree with what ${task.side} knew. `;
}

function attempt(move) {
    const one = task.mistakes[task.number], tried = one.moves.find(known => known.move === move);
    picked = null;
    if (!tried) return tell(`${move} is no legal move.`);
    const judged = verdict(one, tried), less = tried.loss > 0 ?
        `${tried.loss.toFixed(2)}${within(tried.loss_error)} less than after the best move` : "no less than any";
    at("try").value = move;
    task.tries += 1;
    task.arrow = squaresOf(move);
    if (judged.startsWith("as good") && !task.solved) {
        task.solved = true;
        task.found += 1;
    }
    tell(`${move}: ${judged}. ${why(tried)}After it ${task.side} expects ${signed(tried.value)}` +
        `${within(tried.error)}, ${less}.`, ...task.solved ? lines(one) : []);
    draw();
}

function showAnswer() {
    const one = task.mistakes[task.number], best = one.moves.find(({move}) => move === one.line[0].move);
    task.solved = true;
    task.arrow = squaresOf(best.move);
    tell(`The analyst plays ${best.move}. ${why(best)}After it ${task.side} expects ` +
        `${signed(best.value)}${within(best.error)}.`, ...lines(one));
    draw();
}

// How play would have gone on, in most of the positions that agree with what was known.
function lines(one) {
    const text = line => line.map(({move, share}) =>
        move + (share < 1 ? ` (${percent(share)})` : "")).join(", ");
    return [`Probable play: ${text(one.line)}.`, `After the move played: ${text(one.instead)}.`];
}

function tell(...texts) {
    at("told").replaceChildren(...texts.map(text => element("p", text)));
}

function nextTask() {
    task.number += 1;
    if (task.number < task.mistakes.length) return begin();
    task.number -= 1;
    const {found, mistakes, side} = task;
    leave();
    at("learned").textContent = `${found} of ${mistakes.length} of ${side}'s mistakes mended.`;
}

// A square of the board is chosen by click or key: the piece first, then where it goes.
function pick(square) {
    if (!task) return;
    const own = piece(boards[ply][square]);
    if (own && own.side === task.side) picked = square;
    else if (picked !== null) attempt(board.name(picked) + board.name(square));
    showPicked();
}

// To mend a mistake squares are buttons. Which one is picked is seen and heard.
function showPicked() {
    board.squares.forEach((group, square) => {
        group.setAttribute("role", task ? "button" : "img");
        group.classList.toggle("picked", square === picked);
        if (square === picked) group.setAttribute("aria-pressed", "true");
        else group.removeAttribute("aria-pressed");
    });
}
