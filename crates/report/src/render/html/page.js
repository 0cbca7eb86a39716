"use strict";

const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

// Sorting: each column title becomes a button. Numbers sort by value, texts by alphabet, and
// what is empty goes last in either direction.
for (const table of all("table:not(.heat)")) {
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

// Copying: a spreadsheet takes text between tabs. Numbers go in full, in the unit of their column;
// intervals stay text, and so does a label that a spreadsheet would run as a formula.
const asText = (table) => {
  const head = (cell) => {
    const unit = cell.dataset.unit;
    return cell.textContent + (unit ? ` (${unit})` : "");
  };
  const field = (cell, column) => {
    const plain = table.tHead.rows[0].cells[column].classList.contains("number");
    const text = cell.textContent.replace(/\s+/g, " ").trim();
    if (plain && cell.dataset.sort !== undefined && !/^\[|\(|.±/.test(text)) return cell.dataset.sort;
    return /^[=+\-@]/.test(text) && !Number.isFinite(Number(text)) ? `'${text}` : text;
  };
  const rows = [Array.from(table.tHead.rows[0].cells, head)];
  for (const row of table.tBodies[0].rows) rows.push(Array.from(row.cells, field));
  return rows.map((row) => row.join("\t")).join("\n") + "\n";
};
const toClipboard = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
};
for (const scroll of all(".scroll")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy for a spreadsheet";
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    const done = await toClipboard(asText(scroll.querySelector("table")));
    said.textContent = done ? "Copied." : "The browser refused; select the table instead.";
    setTimeout(() => { said.textContent = ""; }, 3000);
  });
  const line = document.createElement("p");
  line.className = "copying";
  line.append(button, " ", said);
  scroll.after(line);
}

// Exact values: titles become tips that show at once, and by keyboard too. In each drawing one mark
// is reached by the tab key, the others from there by the arrow keys.
const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");
document.body.append(tip);
const show = (mark, x, y) => {
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const room = document.documentElement;
  const left = Math.min(Math.max(x - tip.offsetWidth / 2, 4), room.clientWidth - tip.offsetWidth - 4);
  const above = y - tip.offsetHeight - 12;
  tip.style.left = `${Math.max(left, 4)}px`;
  tip.style.top = `${above < 4 ? y + 18 : above}px`;
};
const hide = () => { tip.hidden = true; };
const marked = (event) => (event.target instanceof Element ? event.target.closest("[data-tip]") : null);
for (const moved of ["pointermove", "pointerdown"]) {
  document.addEventListener(moved, (event) => {
    const mark = marked(event);
    if (mark) show(mark, event.clientX, event.clientY);
    else hide();
  });
}
const beside = (mark) => {
  const box = mark.getBoundingClientRect();
  show(mark, box.left + Math.min(box.width / 2, 160), box.top);
};
document.addEventListener("focusin", (event) => {
  const mark = marked(event);
  if (mark && event.target.matches(":focus-visible")) beside(mark);
  else hide();
});
document.addEventListener("focusout", hide);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
// What has the focus is scrolled to: its tip stays with it.
addEventListener("scroll", () => {
  const mark = document.activeElement?.closest("[data-tip]");
  if (mark && !tip.hidden && document.activeElement.matches(":focus-visible")) beside(mark);
  else hide();
}, { passive: true });

for (const title of all("svg > title")) {
  const owner = title.parentElement;
  owner.setAttribute("aria-label", title.textContent);
  if (owner.classList.contains("plane")) owner.setAttribute("role", "group");
  else {
    owner.setAttribute("role", "img");
    owner.dataset.tip = title.textContent;
  }
  title.remove();
}
for (const cell of all("th[title], td[title]")) {
  cell.dataset.tip = cell.title;
  const button = cell.querySelector("button");
  if (button) button.setAttribute("aria-description", cell.title);
  cell.removeAttribute("title");
}
for (const drawing of all(".rows, .plane, .heat")) {
  const marks = all("[data-tip]", drawing).filter((mark) => mark.tagName !== "TH");
  const reach = (chosen) => {
    marks.forEach((mark) => { mark.tabIndex = mark === chosen ? 0 : -1; });
    return chosen;
  };
  if (marks.length === 0) continue;
  reach(marks[0]);
  const step = drawing.tagName === "TABLE" ? drawing.tBodies[0].rows[0].cells.length - 1 : 1;
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: step, ArrowUp: -step, Home: -Infinity, End: Infinity };
  drawing.addEventListener("keydown", (event) => {
    const at = marks.indexOf(event.target);
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const next = Math.min(Math.max(at + steps[event.key], 0), marks.length - 1);
    reach(marks[next]).focus();
  });
}

// A link to something folded unfolds it, also where the browser does not do so by itself.
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
  const folded = target?.querySelector(":scope > details:only-of-type");
  if (folded) folded.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();

// Paper has nothing to click: everything is open there.
let folded = [];
addEventListener("beforeprint", () => {
  folded = all("details:not([open])");
  folded.forEach((part) => { part.open = true; });
});
addEventListener("afterprint", () => {
  folded.forEach((part) => { part.open = false; });
});

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
    download.download = link.download.replace(/\.gz$/, "");
    download.click();
    setTimeout(() => URL.revokeObjectURL(download.href), 1000);
  });
}
