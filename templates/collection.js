
"use strict";
// The heads of a table become buttons that sort its rows.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells);
  const compare = (one, other) =>
    one !== "" && other !== "" && !isNaN(one) && !isNaN(other) ? one - other : one.localeCompare(other);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const value = (row) => row.cells[column].dataset.value;
      body.append(...Array.from(body.rows).sort((one, other) => sign * compare(value(one), value(other))));
    });
  });
}
