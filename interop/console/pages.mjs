// Every page by itself: links and targets, width, theme, heads that stay, times, keys, and what a page weighs.
import { join } from "node:path";
import { accessible, check } from "./support.mjs";

const PHONE = { width: 390, height: 800 };
const DESK = { width: 1200, height: 800 };

// Every link and form leads to something, and every part that is named is in the page.
export async function targets(page, origin, paths) {
  const links = new Map();
  const missing = [];
  for (const path of paths) {
    await page.goto(`${origin}/console${path}`);
    const found = await page.evaluate(() => ({
      links: [...document.querySelectorAll("a[href]")].map((one) => one.getAttribute("href")),
      named: [...document.querySelectorAll("[aria-labelledby], [aria-describedby], [list], label[for]")].flatMap((one) =>
        ["aria-labelledby", "aria-describedby", "list", "for"].map((name) => one.getAttribute(name)).filter(Boolean)),
      live: [...document.querySelectorAll("[data-live]")].map((one) => one.id),
      ids: [...document.querySelectorAll("[id]")].map((one) => one.id),
    }));
    const ids = new Set(found.ids);
    if (ids.size !== found.ids.length) missing.push(`${path}: an id is there twice`);
    for (const id of [...found.named, ...found.live]) if (!ids.has(id)) missing.push(`${path}: #${id}`);
    for (const link of found.links) {
      if (link.startsWith("#")) {
        if (!ids.has(link.slice(1))) missing.push(`${path}: ${link}`);
      } else links.set(link, path);
    }
  }
  check(missing.length === 0, `every part that a page names is in it ${missing.join("; ")}`);
  const dead = [];
  for (const [link, path] of links) {
    const response = await page.request.get(origin + link, { maxRedirects: 0 });
    // A receipt is there once a head of the log is signed.
    const is = response.status() === 200 || (link.endsWith("/receipt") && response.status() === 404);
    if (!link.startsWith("/console") || !is) dead.push(`${path}: ${link} ${response.status()}`);
  }
  check(dead.length === 0, `all ${links.size} links lead to a page ${dead.slice(0, 5).join("; ")}`);
}

// Each page in both themes and both widths, with its picture.
export async function appearance(page, origin, paths, work) {
  for (const [path, name] of paths) {
    for (const [theme, size, kind] of [["light", DESK, "desk"], ["light", PHONE, "phone"], ["dark", DESK, "dark"]]) {
      await page.emulateMedia({ colorScheme: theme });
      await page.setViewportSize(size);
      await page.goto(`${origin}/console${path}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (overflow > 0) check(false, `${name} (${kind}) does not scroll sideways: ${overflow} px`);
      await page.screenshot({ path: join(work, `page-${name}-${kind}.png`) });
      if (kind !== "phone") await accessible(page, `${name} (${kind})`);
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(DESK);
  check(true, `${paths.length} pages fit a desk and a phone`);
}

export async function keysAndTimes(page, origin) {
  await page.goto(`${origin}/console/activity`);
  await page.keyboard.press("/");
  check(await page.evaluate(() => document.activeElement.matches("[data-search]")), "/ goes to the search");
  await page.keyboard.type("j/k?");
  check((await page.inputValue("[data-search]")) === "j/k?", "keys that are typed into a field are text");
  await page.fill("[data-search]", "");
  await page.evaluate(() => document.activeElement.blur());
  const row = () => page.evaluate(() => [...document.querySelectorAll("tr[data-row]")].findIndex((one) => one.contains(document.activeElement)));
  const seen = [];
  for (const key of ["j", "j", "k"]) {
    await page.keyboard.press(key);
    seen.push(await row());
  }
  check(seen.join() === "0,1,0", `j and k go through the rows (${seen.join()})`);
  await page.keyboard.press("Shift+?");
  check(await page.locator("#keys").isVisible(), "? shows the keys");
  await page.keyboard.press("Escape");
  const times = await page.$$eval("main time", (all) => all.map((one) => [one.textContent, one.title, one.getAttribute("datetime")]));
  const is = times.length > 0 && times.every(([text, title, exact]) => /now|ago/.test(text) && title === exact && !Number.isNaN(Date.parse(exact)));
  check(is, `times are relative, with the exact one on hover (${times[0]})`);
  const head = await page.evaluate(() => {
    const box = document.querySelector(".scroll");
    box.scrollTop = 200;
    return box.scrollTop > 0 ? Math.abs(box.querySelector("th").getBoundingClientRect().top - box.getBoundingClientRect().top) : -1;
  });
  check(head >= 0 && head <= 2, `the head of a table stays (${head})`);
}

// What a page weighs, without and with what the browser keeps.
export async function figures(browser, origin, cookies, paths) {
  const rows = [];
  for (const [path, name] of paths) {
    const context = await browser.newContext({ viewport: DESK });
    await context.addCookies(cookies);
    const page = await context.newPage();
    const runs = [];
    for (let n = 0; n < 6; n += 1) {
      await page.goto(`${origin}/console${path}`, { waitUntil: "load" });
      await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
      runs.push(await page.evaluate(() => {
        const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
        const sent = all.filter((one) => one.initiatorType !== "fetch" && !one.name.includes("/events"));
        return {
          requests: sent.filter((one) => one.transferSize > 0).length,
          bytes: sent.reduce((sum, one) => sum + one.transferSize, 0),
          paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
          html: performance.getEntriesByType("navigation")[0].decodedBodySize,
        };
      }));
    }
    const [first, ...again] = runs;
    const paints = again.map((one) => one.paint).sort((a, b) => a - b);
    rows.push([name, kib(first.html), first.requests, kib(first.bytes), again[0].requests, kib(again[0].bytes), Math.round(first.paint), Math.round(paints[2])]);
    await context.close();
  }
  console.log("| page | HTML, KiB | requests | KiB | requests again | KiB again | first paint, ms | again, ms |");
  console.log("|---|---|---|---|---|---|---|---|");
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
  const heaviest = Math.max(...rows.map((row) => row[3]));
  check(heaviest < 120, `no page needs more than 120 KiB, the heaviest ${heaviest}`);
}

const kib = (bytes) => Math.round(bytes / 102.4) / 10;
