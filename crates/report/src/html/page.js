"use strict";

// Sorting: each column title becomes a button. Numbers sort by value, texts by alphabet, and
// what is empty goes last in either direction.
for (const table of document.querySelectorAll("table:not(.heat)")) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      const value = (row) => {
        const cell = row.cells[column];
        if (cell.dataset.sort !== undefined) return Number(cell.dataset.sort);
        return cell.textContent === "" ? null : cell.textContent;
      };
      const compare = (a, b) =>
        typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      const rows = Array.from(body.rows, (row) => ({ row, key: value(row) }));
      rows.sort((a, b) => {
        if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
        return ascending ? compare(a.key, b.key) : compare(b.key, a.key);
      });
      body.append(...rows.map((entry) => entry.row));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    });
  });
}

// A link to something folded unfolds it, also where the browser does not do so by itself.
const unfold = () => {
  const target = document.getElementById(location.hash.slice(1));
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();

// Download: the embedded file is compressed; browsers that can decompress offer it as it was.
const link = document.getElementById("raw-result");
const button = document.getElementById("download");
if (link && button && "DecompressionStream" in window) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const binary = atob(link.href.slice(link.href.indexOf(",") + 1));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const blob = await new Response(stream).blob();
    const download = document.createElement("a");
    download.href = URL.createObjectURL(blob);
    download.download = "result.jsonl";
    download.click();
    setTimeout(() => URL.revokeObjectURL(download.href), 1000);
  });
}
