// Drives the console with Chromium. Every check that fails is listed; the exit code says whether there was one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { forgery, framing, readOnly, secrets, sessions } from "./attacks.mjs";
import { issuerSignIn } from "./issuer.mjs";
import { manyConsoles, manyEvents } from "./live.mjs";
import { appearance, figures, keysAndTimes, targets } from "./pages.mjs";
import { accessible as accessibleIn, ADMIN, API, check, failed, Gateway, signIn as signInTo, watchedPage } from "./support.mjs";

const [, , executablePath, address, work, program] = process.argv;
const origin = new URL(address).origin;
const gateway = new Gateway(origin);
const api = (path) => gateway.api(path);
const call = (name) => gateway.call(name);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, colorScheme: "light" });
const complaints = [];
const page = await watchedPage(context, complaints);
const accessible = (name) => accessibleIn(page, name);
const signIn = (key) => signInTo(page, origin, key);

// Signing in.
await page.goto(address);
check(page.url().endsWith("/console/sign-in"), "without a session there is the form");
await accessible("sign-in");
await signIn("wrong");
check((await page.textContent("[role=alert]")).includes("does not open"), "a wrong key is refused");
await signIn(API);
check((await page.textContent(".who")).includes("viewer"), "the api_key opens it to read");
await page.goto(`${origin}/console/policy?server=notes&tool=bad_output&mode=strict`);
check((await page.locator("form[action='/console/policy/mode']").count()) === 0, "a viewer has no form to apply");
await page.goto(`${origin}/console/servers/notes`);
check((await page.locator("main form").count()) === 0, "a viewer has no form for servers");
await page.click(".who button");
check(page.url().endsWith("/console/sign-in"), "signing out ends the session");
await signIn(ADMIN);
check((await page.textContent(".who")).includes("operator"), "the admin_key opens it to change");
const cookies = await context.cookies();
check(cookies.every((one) => one.httpOnly && one.sameSite === "Strict"), "the cookie is HttpOnly and SameSite=Strict");

// A blocked call arrives while the page is open.
await page.goto(`${origin}/console/activity?status=blocked`);
await page.waitForSelector("#live:not([hidden])");
const before = await page.locator("tr[data-row]").count();
await call("stub:bad_output");
await page.waitForFunction((count) => document.querySelectorAll("tr[data-row]").length > count, before);
check(true, "a blocked call arrives live");
await page.keyboard.press("j");
await page.keyboard.press("Enter");
await page.waitForURL(/console\/activity\/[0-9A-Z]{26}$/);
const sentence = await page.textContent("h1");
check(sentence.includes("blocked") && sentence.includes("output schema validation failed"), "its page begins with why");
check((await page.textContent("main")).includes("/properties/id/type"), "its finding points into the schema");
check((await page.textContent("mark")).includes('"type": "integer"'), "the line of the declared schema is marked");
const recordPage = new URL(page.url()).pathname.replace("/console", "");
await page.screenshot({ path: join(work, "console-record.png") });
await accessible("record");
await page.click("text=show calls like this");
check((await page.locator("tr[data-row]").count()) > 0, "calls like it are a click away");

// A stricter mode, looked at, applied and undone.
for (let n = 0; n < 5; n += 1) await call("notes:bad_output");
const asked = "server=notes&tool=bad_output&mode=strict";
await page.goto(`${origin}/console/policy?${asked}`);
const stored = await api(`/api/v1/policy/preview?${asked}`);
const preview = await page.textContent("#preview");
check(preview.includes(`${stored.would_be_blocked} of ${stored.calls} calls`) && stored.would_be_blocked > 0,
  `the preview is the store's: ${stored.would_be_blocked} of ${stored.calls}`);
await accessible("policy");
const mode = async () => (await api("/api/v1/tools/notes%3Abad_output")).output_validation.mode;
check((await mode()) === "warn", "the tool is in warn before");
await page.click("form[action='/console/policy/mode'] button");
await page.waitForSelector(".notice");
check((await mode()) === "strict", `the tool is in strict after: ${await page.textContent(".notice")}`);
const [recorded] = (await api("/api/v1/activity?type=config_change&limit=1")).activities;
check(recorded.caller === "key:operator", `the change is recorded with its caller: ${recorded.caller}`);
await page.click("form[action='/console/policy/undo'] button");
await page.waitForSelector(".notice");
check((await mode()) === "warn", `undone: ${await page.textContent(".notice")}`);

// A server is restarted.
await page.goto(`${origin}/console/servers/notes`);
await page.click("form[action$='/restart'] button");
check((await page.textContent(".notice")).includes("restarted"), "a server is restarted");

// A server is added, and one that cannot be is refused with what was typed.
await page.goto(`${origin}/console/servers`);
await page.fill("input[name=name]", "far");
await page.fill("input[name=url]", "not an address");
await page.click("form[action='/console/servers'] button");
check((await page.textContent(".notice")).includes("Not") && (await page.inputValue("input[name=url]")) === "not an address", "an address that is none is refused");
await page.fill("input[name=url]", "http://127.0.0.1:9/mcp");
await page.click("form[action='/console/servers'] button");
await page.waitForURL(/servers\/far$/);
check((await page.textContent(".notice")).includes("was added"), "a server is added");
check((await page.locator("input[name=command]").count()) === 0, "a program is not added where the file does not allow it");
await page.click("form[action$='/disable'] button");
check((await api("/api/v1/servers/far")).state === "disabled", "and disabled");

// Try.
await page.goto(`${origin}/console/try`);
await page.click("main form button");
check((await page.textContent("#verdict")).includes("blocked"), "Try says what would become of a result");
await accessible("try");
const [download] = await Promise.all([page.waitForEvent("download"), page.click("button[formaction='/console/try/case']")]);
const file = JSON.parse(readFileSync(await download.path(), "utf8"));
check(file.cases[0].expect.strict.decision === "blocked", "Try gives a corpus case");

// Hostile names.
const tool = "hostile:evil<script>window.pwned=3</script>";
await call(tool);
const [found] = (await api("/api/v1/activity?server=hostile&type=policy_decision&limit=1")).activities;
check(found !== undefined, "a hostile result is recorded");
const script = encodeURIComponent("<script>window.pwned=4</script>\u202e");
for (const path of ["", `/activity/${found.id}`, "/activity?server=hostile", "/servers", "/servers/hostile", "/tools", `/tools/${encodeURIComponent(tool)}`,
  "/tools/hostile%3Ahuge", "/tools?q=evil", `/activity/${script}`, `/servers/${script}`, `/tools/${script}`, `/policy?server=${script}&tool=${script}&mode=strict`, `/activity?tool=${script}`, `/nothing/${script}`]) {
  await page.goto(`${origin}/console${path}`);
  const state = await page.evaluate(() => ({
    pwned: window.pwned,
    scripts: document.querySelectorAll("script:not([src]), main script, main img").length,
    hidden: /[\u202e\u200b]|\u{e0041}/u.test(document.body.innerText),
  }));
  check(state.pwned === undefined && state.scripts === 0 && !state.hidden, `hostile text is inert and seen: /console${path}`);
}
await page.goto(`${origin}/console/activity?since=${encodeURIComponent("\u202e<b>")}`);
check((await page.textContent("[role=alert]")).includes("RLO"), "hidden characters are drawn as marks");

// Every page: its targets, its appearance, its keys, what it weighs.
const PAGES = [["", "overview"], ["/activity", "activity"], [recordPage, "record"], ["/servers", "servers"], ["/servers/notes", "server"],
  ["/tools", "tools"], ["/tools/notes%3Abad_output", "tool"], ["/policy?mode=strict", "policy"], ["/try", "try"]];
const paths = PAGES.map(([path]) => path);
await targets(page, origin, [...paths, `/activity/${found.id}`, "/activity?status=blocked&limit=1"]);
await page.goto(`${origin}/console?range=6h`);
await page.screenshot({ path: join(work, "console-overview.png") });
await appearance(page, origin, PAGES, work);
await keysAndTimes(page, origin);
await page.goto(`${origin}/console/activity?tool=none`);
check((await page.textContent(".empty")).includes("No records match"), "an empty list says what to do");
await figures(browser, origin, await context.cookies(), PAGES);

// What an attacker would try.
await secrets(page, origin, [...paths, "/servers/hostile"]);
await forgery(context, gateway);
await framing(context, gateway);
await sessions(browser, gateway);
await readOnly(browser, gateway);

// Users of an issuer.
await issuerSignIn(browser, program, complaints);

// Consoles that stay open.
await manyEvents(page, gateway);
await manyConsoles(browser, gateway, complaints);

check(complaints.length === 0, `no console error, an empty report of the content security policy: ${complaints.slice(0, 5).join("; ")}`);
await browser.close();
console.log(failed() === 0 ? "the console works in Chromium" : `${failed()} checks failed`);
process.exit(failed() === 0 ? 0 : 1);
