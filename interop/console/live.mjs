// Consoles that stay open: many events a second, and many consoles at once.
import { check, signIn, watchedPage, API } from "./support.mjs";

const RATE = 200;
const CONSOLES = 20;

// Calls whose result breaks its contract: each is two records, so two events.
async function flood(gateway, seconds, name = "notes:bad_output") {
  const calls = (RATE / 2) * seconds;
  const begun = performance.now();
  const under_way = new Set();
  for (let n = 0; n < calls; n += 1) {
    const wait = begun + (n * 2000) / RATE - performance.now();
    if (wait > 1) await new Promise((done) => setTimeout(done, wait));
    const one = gateway.call(name).finally(() => under_way.delete(one));
    under_way.add(one);
    if (under_way.size >= 32) await Promise.race(under_way);
  }
  await Promise.all(under_way);
  return Math.round((calls * 2000) / (performance.now() - begun));
}

async function state(page, session) {
  await session.send("HeapProfiler.collectGarbage");
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name) => metrics.find((one) => one.name === name).value;
  return { heap: of("JSHeapUsedSize") / 1048576, nodes: of("Nodes"), rows: await page.locator("tr[data-row]").count() };
}

// 200 events a second for a while: the page answers, and holds no more than before.
export async function manyEvents(page, gateway) {
  await page.goto(`${gateway.origin}/console/activity`);
  await page.waitForSelector("#live:not([hidden])");
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  await flood(gateway, 5);
  const before = await state(page, session);
  await page.evaluate(() => {
    window.longest = 0;
    let last = performance.now();
    setInterval(() => {
      const now = performance.now();
      window.longest = Math.max(window.longest, now - last - 20);
      last = now;
    }, 20);
  });
  const first = await page.textContent("tr[data-row] td a");
  const rate = await flood(gateway, 20);
  const after = await state(page, session);
  const longest = Math.round(await page.evaluate(() => window.longest));
  console.log(`     ${rate} events a second for 20 s: heap ${before.heap.toFixed(1)} to ${after.heap.toFixed(1)} MiB, ` +
    `nodes ${before.nodes} to ${after.nodes}, rows ${after.rows}, the page was busy for ${longest} ms at most`);
  check(first !== null && after.rows <= 50, `the list stays a page long (${after.rows} rows)`);
  check(after.heap < before.heap + 8 && after.nodes < before.nodes * 2 + 2000, "the page does not grow with events");
}

// Twenty browsers look at once, and each sees what happens.
export async function manyConsoles(browser, gateway, complaints) {
  const opened = await Promise.all(Array.from({ length: CONSOLES }, async () => {
    const context = await browser.newContext({ viewport: { width: 800, height: 600 } });
    const page = await watchedPage(context, complaints);
    await signIn(page, gateway.origin, API);
    await page.goto(`${gateway.origin}/console/activity?tool=conforming&type=tool_call`);
    await page.waitForSelector("#live:not([hidden])");
    return { context, page, before: await page.locator("tr[data-row]").count() };
  }));
  const begun = performance.now();
  await gateway.call("notes:conforming");
  await Promise.all(opened.map(({ page, before }) =>
    page.waitForFunction((count) => document.querySelectorAll("tr[data-row]").length > count, before)));
  check(true, `${CONSOLES} open consoles show a call, the last one after ${Math.round(performance.now() - begun)} ms`);
  for (const { context } of opened) await context.close();
}
