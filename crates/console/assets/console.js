// The console's script. Pages work without it: it adds the live tail, the keys and times that stay right.
"use strict";

(() => {
  // Live: an event says only that there is something new. The page is then fetched again, at most once a second, and
  // its parts with `data-live` are replaced. So all text is drawn by the gateway, and memory does not grow with events.
  const PAUSE = 1000;
  const address = document.body.dataset.events;
  const sign = document.getElementById("live");
  let source = null;
  let waiting = false;
  let fetching = false;

  async function look() {
    waiting = false;
    if (fetching) {
      soon();
      return;
    }
    fetching = true;
    try {
      const response = await fetch(location.href, { credentials: "same-origin", redirect: "error" });
      if (!response.ok) return;
      const next = new DOMParser().parseFromString(await response.text(), "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const fresh = next.getElementById(part.id);
        if (fresh) swap(part, fresh);
      }
    } catch {
      // Signed out, or the gateway is away: the stream ends too, and says so.
    } finally {
      fetching = false;
    }
  }

  function swap(part, fresh) {
    const rows = [...part.querySelectorAll("tr[data-row]")];
    const at = rows.find((row) => row.contains(document.activeElement));
    const link = at && at.querySelector("a[href]");
    const target = link && link.getAttribute("href");
    const scrolled = part.querySelector(".scroll");
    const top = scrolled ? scrolled.scrollTop : 0;
    part.replaceWith(document.adoptNode(fresh));
    const again = document.getElementById(fresh.id);
    const box = again.querySelector(".scroll");
    if (box) box.scrollTop = top;
    if (target) {
      const links = [...again.querySelectorAll("tr[data-row] a[href]")];
      const same = links.find((one) => one.getAttribute("href") === target);
      if (same) same.focus({ preventScroll: true });
    }
  }

  function soon() {
    if (waiting) return;
    waiting = true;
    setTimeout(look, PAUSE);
  }

  function listen() {
    if (!address || source || document.hidden) return;
    source = new EventSource(address);
    source.addEventListener("activity", soon);
    source.addEventListener("open", () => { sign.hidden = false; });
    source.addEventListener("error", () => { sign.hidden = true; });
  }

  // A browser opens few connections to one host: a page that is not seen needs none.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
      if (address && !source) soon();
      listen();
    } else if (source) {
      source.close();
      source = null;
      sign.hidden = true;
    }
  });
  listen();

  // Times: the words go stale, the exact time does not.
  function ago(seconds) {
    if (seconds < 2) return "now";
    if (seconds < 60) return Math.floor(seconds) + " s ago";
    if (seconds < 3600) return Math.floor(seconds / 60) + " min ago";
    if (seconds < 86400) return Math.floor(seconds / 3600) + " h ago";
    return Math.floor(seconds / 86400) + " d ago";
  }
  setInterval(() => {
    for (const time of document.querySelectorAll("time[datetime]")) {
      const then = Date.parse(time.getAttribute("datetime"));
      if (!Number.isNaN(then)) time.textContent = ago(Math.max(0, Date.now() - then) / 1000);
    }
  }, 10000);

  // Keys.
  function move(step) {
    const rows = [...document.querySelectorAll("tr[data-row]")].filter((row) => row.querySelector("a[href]"));
    if (rows.length === 0) return;
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
    rows[next].querySelector("a[href]").focus();
  }

  document.addEventListener("keydown", (event) => {
    const inField = event.target.closest("input, select, textarea");
    if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
    const search = document.querySelector("[data-search]");
    if (event.key === "/" && search) search.focus();
    else if (event.key === "/") location.assign("/console/activity");
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "?") document.getElementById("keys").showModal();
    else return;
    event.preventDefault();
  });
})();
