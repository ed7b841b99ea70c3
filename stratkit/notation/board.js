"use strict";
// A board of Stratego, for every page that shows one.
//
// A piece is {side, text, known}: side "red" or "blue"; text its rank, "" while that is hidden, or
// "•" once it has moved as a hidden one; known, whether both sides know its rank.

class Board {
    static NAMES = {F: "flag", S: "spy", B: "bomb"};  // of ranks that are no numbers
    static SIZE = 48;  // of a square
    static MARGIN = 24;  // with the names of files and ranks
    static FILES = "ABCDEFGHIK";

    // A symbol for each rank, lines in a box of 14 x 8 around (0, 0).
    static SYMBOLS = {
        F: "M-3 4V-4L4 -1.5L-3 1", B: "M0 -2a3 3 0 1 0 .01 0zM1 -2Q1 -5 4 -4",
        S: "M-6 0Q0 -5.5 6 0Q0 5.5 -6 0zM-1 0a1 1 0 1 0 2 0a1 1 0 1 0 -2 0",
        2: "M-6 0H5M2 -3L5 0L2 3", 3: "M-5 -1Q0 -5.5 5 -1M0 -3V4",
        ...Object.fromEntries([4, 5, 6].map((rank, more) => [rank, Array.from({length: more + 1},
            (_, at) => `M-5 ${2 + 1.5 * more - 3 * at}L0 ${-1 + 1.5 * more - 3 * at}L5 ${2 + 1.5 * more - 3 * at}`)
            .join("")])),
        ...Object.fromEntries([7, 8, 9, 10].map((rank, more) => [rank, Array.from({length: more + 1},
            (_, at) => `M${7 * at - 3.5 * more} -2.5l.8 1.7 1.7 .8 -1.7 .8 -.8 1.7 -.8 -1.7 -1.7 -.8 1.7 -.8z`)
            .join("")])),
    };

    // Draws into `svg`, an <svg> element. `squares` has an element for each square, A1 first, whose
    // data-square is its name; what listens to them goes on when the board is drawn again.
    constructor(svg, width, height) {
        Object.assign(this, {width, height, below: null});
        svg.setAttribute("class", "board");
        svg.setAttribute("viewBox", `0 0 ${2 * Board.MARGIN + Board.SIZE * width} ` +
                         `${2 * Board.MARGIN + Board.SIZE * height}`);
        this.squares = Array.from({length: width * height}, (_, square) => {
            const group = Board.shape("g", {"data-square": this.name(square)});
            group.append(Board.shape("rect", {width: Board.SIZE, height: Board.SIZE}));
            return group;
        });
        this.labels = Board.shape("g", {class: "labels", "aria-hidden": "true"});
        this.arrow = Board.shape("g", {class: "arrow"});
        svg.replaceChildren(...this.squares, this.labels, this.arrow);
    }

    // Alt and an arrow go back to another page, and so on.
    static isForBrowser = event => event.altKey || event.ctrlKey || event.metaKey;

    static shape(kind, attributes, text = "") {
        const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        made.textContent = text;
        return made;
    }

    // A piece around the point (0, 0): rank and symbol; red ones are square, blue ones round.
    static piece({side, text, known}) {
        const group = Board.shape("g", {class: `piece ${side}${known ? " known" : ""}`});
        const half = .4 * Board.SIZE, size = 2 * half;
        const rx = (side === "red" ? .08 : .3) * Board.SIZE;
        const box = {x: -half, y: -half, width: size, height: size, rx};
        const symbol = Board.SYMBOLS[text];
        group.append(Board.shape("rect", box), Board.shape("text", {dy: symbol ? ".12em" : ".35em"}, text));
        if (symbol) group.append(Board.shape("path", {d: symbol, class: "symbol", transform: "translate(0 11)"}));
        return group;
    }

    // A piece on a square for lists and legends, of the size of the text around it.
    static small(piece) {
        const half = Board.SIZE / 2, {side, text} = piece, svg = Board.shape("svg", {
            class: "board small", viewBox: `${-half} ${-half} ${Board.SIZE} ${Board.SIZE}`, role: "img",
            "aria-label": `${side} ${/\w/.test(text) ? Board.NAMES[text] || text : "hidden piece"}`});
        const land = Board.shape("g", {class: "land"});
        land.append(Board.shape("rect", {x: -half, y: -half, width: "100%", height: "100%"}));
        svg.append(land, Board.piece(piece));
        return svg;
    }

    name(square) {
        return Board.FILES[square % this.width] + (Math.floor(square / this.width) + 1);
    }

    // The middle of a square.
    place(square) {
        const turned = this.below === "blue" ? this.squares.length - 1 - square : square;
        const up = Math.floor(turned / this.width), middle = Board.MARGIN + Board.SIZE / 2;
        return [middle + Board.SIZE * (turned % this.width),
                middle + Board.SIZE * (this.height - 1 - up)];
    }

    // Draws `contents`, for each square a piece, "lake" or null, with the side `below` nearer to
    // the viewer and, for the `last` move (two squares, or null), both marked and an arrow.
    draw(contents, below = "red", last = null) {
        if (below !== this.below) {
            this.below = below;
            this.turn();
        }
        this.squares.forEach((group, square) => {
            const content = contents[square];
            group.setAttribute("class", content === "lake" ? "lake" : "land");
            while (group.childNodes.length > 1) group.lastChild.remove();
            if (content && content !== "lake") {
                const piece = Board.piece(content), half = Board.SIZE / 2;
                piece.setAttribute("transform", `translate(${half} ${half})`);
                group.append(piece);
            }
        });
        this.arrow.replaceChildren();
        if (!last) return;
        for (const square of last) this.squares[square].classList.add("moved");
        this.point(...last);
    }

    // Puts squares and labels where they belong for the side that is below.
    turn() {
        const {width, height} = this, half = Board.SIZE / 2, edge = Board.MARGIN / 2;
        const right = 3 * edge + Board.SIZE * width, bottom = 3 * edge + Board.SIZE * height;
        this.squares.forEach((group, square) => {
            const [x, y] = this.place(square);
            group.setAttribute("transform", `translate(${x - half} ${y - half})`);
        });
        const label = (x, y, text) => Board.shape("text", {x, y, dy: ".35em"}, text);
        this.labels.replaceChildren();
        for (let file = 0; file < width; file++)
            for (const y of [edge, bottom])
                this.labels.append(label(this.place(file)[0], y, Board.FILES[file]));
        for (let rank = 0; rank < height; rank++)
            for (const x of [edge, right])
                this.labels.append(label(x, this.place(width * rank)[1], rank + 1));
    }

    // The arrow lies between the ranks of both squares, so that they can be read. `kind` is a class.
    point(from, to, kind = "") {
        const [x, y] = this.place(from), [endX, endY] = this.place(to);
        const length = Math.hypot(endX - x, endY - y), [right, down] = [(endX - x) / length,
                                                                        (endY - y) / length];
        const start = .34 * Board.SIZE, tip = length - .42 * Board.SIZE, neck = tip - 9;
        const at = (along, aside) => `${x + along * right - aside * down} ` +
                                     `${y + along * down + aside * right}`;
        this.arrow.append(
            Board.shape("path", {class: kind, d: `M${at(start, -3)}L${at(neck, -3)}L${at(neck, -8)}L${at(tip, 0)}` +
                                    `L${at(neck, 8)}L${at(neck, 3)}L${at(start, 3)}z`}));
    }
}
