// What the parts of the run share: checks, requests beside the browser, and pages that report what goes wrong in them.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

export const API = "the-api-key";
export const ADMIN = "the-admin-key";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let failures = 0;
export function check(is, what) {
  console.log(`${is ? "ok  " : "FAIL"} ${what}`);
  if (!is) failures += 1;
}
export const failed = () => failures;

export class Gateway {
  constructor(origin) {
    this.origin = origin;
  }

  async api(path) {
    const response = await fetch(this.origin + path, { headers: { "X-API-Key": API } });
    return response.json();
  }

  async call(name) {
    const body = { jsonrpc: "2.0", id: name, method: "tools/call", params: { name: "call_tool_read", arguments: { name } } };
    const headers = { "X-API-Key": API, "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
    await (await fetch(`${this.origin}/mcp`, { method: "POST", headers, body: JSON.stringify(body) })).text();
  }
}

// A page whose errors, dialogs and violations of the content security policy are kept.
export async function watchedPage(context, complaints) {
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  await page.exposeFunction("reportViolation", (text) => complaints.push(`content security policy: ${text}`));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      window.reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
    });
  });
  page.on("console", (message) => {
    const { url } = message.location();
    // A refusal is what these pages are asked for.
    const refused = /status of 40[0134]/.test(message.text()) && /\/console\/(sign-in|servers)$|%3Cscript%3E/.test(url);
    if (["error", "warning"].includes(message.type()) && !refused) complaints.push(`${message.text()} ${url}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  return page;
}

export async function accessible(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run());
  const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
  const detail = serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).slice(0, 2).join(" ")}`);
  check(serious.length === 0, `${name}: axe finds nothing serious ${detail.join("; ")}`);
}

export async function signIn(page, origin, key) {
  await page.goto(`${origin}/console/sign-in`);
  await page.fill("#key", key);
  await page.click("form[action='/console/sign-in'] button");
}
