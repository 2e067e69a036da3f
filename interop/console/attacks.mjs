// What an attacker would try with the browser of a person who is signed in, or with one of their own.
import { createServer } from "node:http";
import { check, signIn, API, ADMIN } from "./support.mjs";

// A page of another origin, on the same host: its requests carry the cookie, because the host is the same site.
async function foreignPage(html) {
  const server = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(html);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { server, address: `http://127.0.0.1:${server.address().port}/` };
}

export async function forgery(context, gateway) {
  const form = `<form method="post" action="${gateway.origin}/console/servers/notes/disable"><input name="csrf" value=""></form>
    <script>document.forms[0].submit()</script>`;
  const { server, address } = await foreignPage(form);
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForURL(/disable$/);
  check((await page.textContent("body")).length > 0 && (await gateway.api("/api/v1/servers/notes")).state !== "disabled",
    "a form of another origin changes nothing");
  await page.close();
  server.close();
}

export async function framing(context, gateway) {
  const { server, address } = await foreignPage(`<iframe src="${gateway.origin}/console"></iframe>`);
  const page = await context.newPage();
  await page.goto(address, { waitUntil: "load" });
  const frame = page.frames().find((one) => one !== page.mainFrame());
  const shown = await frame.evaluate(() => document.querySelector("main") !== null).catch(() => false);
  check(!shown, "another page cannot frame the console");
  await page.close();
  server.close();
}

export async function sessions(browser, gateway) {
  const context = await browser.newContext();
  const url = `${gateway.origin}/console`;
  const planted = "f".repeat(64);
  await context.addCookies([{ name: "countersign_console", value: planted, url }]);
  const page = await context.newPage();
  await signIn(page, gateway.origin, ADMIN);
  await page.waitForURL(/console$/);
  const cookie = async () => (await context.cookies()).filter((one) => one.name === "countersign_console" && one.path === "/console");
  const [own] = await cookie();
  check(own && own.value !== planted && /^[0-9a-f]{64}$/.test(own.value), "an id that was planted before is not taken over");
  check(own.httpOnly && own.sameSite === "Strict" && own.path === "/console" && own.expires > 0, "the cookie is HttpOnly, SameSite=Strict, for the console only, and ends");
  check(!(await page.evaluate(() => document.cookie)).includes(own.value), "a script does not see the cookie");

  await page.goto(`${gateway.origin}/console/activity`);
  const token = await page.getAttribute("input[name=csrf]", "value");
  await page.click(".who button");
  await page.waitForURL(/sign-in$/);
  await page.goBack();
  await page.waitForLoadState();
  check((await page.locator("tr[data-row]").count()) === 0, "after signing out, Back shows no page");
  const old = { Cookie: `countersign_console=${own.value}` };
  const again = await fetch(`${gateway.origin}/console/activity`, { headers: old, redirect: "manual" });
  const form = { method: "POST", headers: { ...old, "Content-Type": "application/x-www-form-urlencoded" }, body: `csrf=${token}` };
  const change = await fetch(`${gateway.origin}/console/servers/notes/disable`, { ...form, redirect: "manual" });
  check(again.status === 303 && change.status === 401, "the id and the token of a session that ended open nothing");
  await context.close();
}

// A session that may only read sends the forms of an operator, with its own token.
export async function readOnly(browser, gateway) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, gateway.origin, API);
  await page.waitForURL(/console$/);
  const statuses = await page.evaluate(async () => {
    const csrf = document.querySelector("input[name=csrf]").value;
    const paths = ["policy/mode", "policy/undo", "servers", "servers/notes/restart", "servers/notes/disable", "servers/notes/enable"];
    const fields = { csrf, server: "notes", tool: "bad_output", mode: "strict", name: "z", url: "http://127.0.0.1:9" };
    const send = (path) => fetch(`/console/${path}`, { method: "POST", body: new URLSearchParams(fields) });
    return Promise.all(paths.map(async (path) => (await send(path)).status));
  });
  check(statuses.every((status) => status === 403), `a session that reads changes nothing (${statuses.join()})`);
  await context.close();
}

// No page holds a key, whatever it shows.
export async function secrets(page, origin, paths) {
  for (const path of paths) {
    const text = await (await page.request.get(`${origin}/console${path}`)).text();
    if (text.includes(API) || text.includes(ADMIN)) check(false, `${path} shows a key`);
  }
  const answer = await page.request.get(`${origin}/console`);
  const headers = answer.headers();
  check(headers["cache-control"] === "no-store" && headers["x-content-type-options"] === "nosniff"
    && headers["content-security-policy"].includes("frame-ancestors 'none'"), "no page shows a key, and none is kept");
}
