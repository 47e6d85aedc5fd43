"use strict";
(() => {
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  const findings = all(".finding");
  const reveal = (element) => { if (element) element.hidden = false; };

  // Colour theme: auto, light, dark. Storage may be forbidden for files.
  const themes = ["auto", "light", "dark"];
  const store = {
    get: () => { try { return localStorage.getItem("breakfinder-theme"); } catch { return null; } },
    set: (value) => { try { localStorage.setItem("breakfinder-theme", value); } catch { /* not kept */ } },
  };
  const themeButton = one("#theme");
  const setTheme = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    themeButton.textContent = `Theme: ${theme}`;
  };
  let theme = themes.includes(store.get()) ? store.get() : "auto";
  setTheme(theme);
  themeButton.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    store.set(theme);
    setTheme(theme);
  });

  // Scenario tabs.
  const tabs = all("[role=tab]");
  const select = (chosen) => tabs.forEach((tab) => {
    const on = tab === chosen;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    one(`#${tab.getAttribute("aria-controls")}`).hidden = !on;
  });
  if (tabs.length) {
    reveal(one(".tabs"));
    all(".scenario-name").forEach((name) => { name.hidden = true; });
    all(".scenario").forEach((panel, index) => {
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tabs[index].id);
    });
    tabs.forEach((tab, index) => {
      tab.addEventListener("click", () => select(tab));
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = tabs[(index + step + tabs.length) % tabs.length];
        select(next);
        next.focus();
        event.preventDefault();
      });
    });
    select(tabs[0]);
  }

  // Search and filters.
  const form = one("#filters");
  const search = one("#search");
  const selects = all("[data-filter]");
  const texts = new Map();
  const textOf = (finding) => {
    if (!texts.has(finding)) texts.set(finding, `${finding.id} ${finding.textContent}`.toLowerCase());
    return texts.get(finding);
  };
  const matches = (finding, words) =>
    selects.every((box) => !box.value || finding.dataset[box.dataset.filter].split("|").includes(box.value)) &&
    words.every((word) => textOf(finding).includes(word));
  const filter = () => {
    if (!form) return;
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const finding of findings) {
      finding.hidden = !matches(finding, words);
      if (!finding.hidden) shown += 1;
    }
    one("#shown").textContent = `${shown} of ${findings.length}`;
    one("#none-match").hidden = shown > 0;
  };
  const clear = () => {
    search.value = "";
    selects.forEach((box) => { box.value = ""; });
    filter();
  };
  if (form) {
    reveal(form);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", filter);
    one("#clear").addEventListener("click", clear);
    const fold = one("#fold");
    const fresh = () => findings.some((finding) => finding.firstElementChild.open) ? "Fold all" : "Unfold all";
    fold.textContent = fresh();
    fold.addEventListener("click", () => {
      const open = fold.textContent === "Unfold all";
      findings.forEach((finding) => { finding.firstElementChild.open = open; });
      fold.textContent = open ? "Fold all" : "Unfold all";
    });
    filter();
  }

  // One finding is the current one: from the address, or by the keys j and k.
  const summaryOf = (finding) => finding.querySelector("summary");
  const makeCurrent = (finding, open) => {
    all(".finding.current").forEach((other) => other.classList.remove("current"));
    finding.classList.add("current");
    if (open) finding.firstElementChild.open = true;
    summaryOf(finding).focus({ preventScroll: true });
    finding.scrollIntoView({ block: open ? "start" : "nearest" });
  };
  const openFromAddress = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* as it stands */ }
    const finding = findings.find((candidate) => candidate.id === id);
    if (!finding) return;
    if (finding.hidden) clear();
    makeCurrent(finding, true);
  };
  addEventListener("hashchange", openFromAddress);
  // The browser's own jump to the address, which takes the focus away, may come after this script.
  if (document.readyState !== "complete") addEventListener("load", () => requestAnimationFrame(openFromAddress));
  openFromAddress();
  const move = (step) => {
    const visible = findings.filter((finding) => !finding.hidden);
    if (!visible.length) return;
    const here = visible.findIndex((finding) => finding.contains(document.activeElement));
    const current = here >= 0 ? here : visible.findIndex((finding) => finding.classList.contains("current"));
    const next = current < 0 ? (step > 0 ? 0 : visible.length - 1) : current + step;
    makeCurrent(visible[Math.min(Math.max(next, 0), visible.length - 1)], false);
  };

  // Keys.
  const help = one("#help");
  one("#help-button").addEventListener("click", () => help.showModal());
  reveal(one(".tools"));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (event.key === "Escape" && form) {
      clear();
      if (document.activeElement === search) search.blur();
      return;
    }
    if (event.target.closest("input, select, textarea")) return;
    const action = {
      j: () => move(1), k: () => move(-1),
      "/": () => search && search.focus(), "?": () => help.showModal(),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // Copy a location or a diff; where the browser forbids it, select what was to be copied.
  all(".copy").forEach(reveal);
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const label = button.dataset.label ??= button.textContent;
    const diff = button.dataset.copies && button.parentElement.querySelector(".diff");
    const lines = diff ? Array.from(diff.querySelectorAll("code"), (line) => `${line.textContent}\n`) : [];
    try {
      await navigator.clipboard.writeText(diff ? lines.join("") : button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      if (diff) getSelection().selectAllChildren(diff);
      button.textContent = diff ? "Selected" : button.dataset.copy;
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });

  // Paper shows everything.
  addEventListener("beforeprint", () => findings.forEach((finding) => { finding.firstElementChild.open = true; }));
})();
