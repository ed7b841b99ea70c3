"use strict";
// A click on a column's head sorts its table; what an address points to is unfolded. The block keeps
// its names from the other scripts of a page.
{
    for (const table of document.querySelectorAll("table.sorts")) {
        const [head, ...rows] = table.rows;
        [...head.cells].forEach((cell, column) => {
            const button = document.createElement("button"), words = cell.classList.contains("words");
            button.type = "button";
            button.append(...cell.childNodes);
            cell.append(button);
            const text = row => row.cells[column].textContent;
            const number = row => {
                const found = parseFloat(text(row).replace("−", "-").replace("∞", "Infinity"));
                return Number.isNaN(found) ? -Infinity : found;
            };
            button.onclick = () => {
                const before = cell.getAttribute("aria-sort");
                const up = before ? before === "descending" : words;
                for (const other of head.cells) other.removeAttribute("aria-sort");
                cell.setAttribute("aria-sort", up ? "ascending" : "descending");
                const order = words ? (a, b) => text(a).localeCompare(text(b), "en", {numeric: true})
                    : (a, b) => Math.sign(number(a) - number(b)) || 0;
                rows.sort((a, b) => up ? order(a, b) : order(b, a));
                head.parentNode.append(...rows);
            };
        });
    }
    const show = () => {
        const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
        for (let fold = place?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
        place?.scrollIntoView();
    };
    addEventListener("hashchange", show);
    show();
}
