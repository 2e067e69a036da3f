// Signing in at an issuer of another site. The session's cookie is `Strict`, so the browser has to send it although the way to the
// console began at the issuer.
import { spawn } from "node:child_process";
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accessible, check, watchedPage } from "./support.mjs";

const base64url = (value) => Buffer.from(value).toString("base64url");

// An issuer at localhost, which is another site than 127.0.0.1. Its user is signed in there already: it sends every browser straight back.
async function startIssuer() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const codes = new Map();
  const issuer = { user: undefined };
  const token = ({ resource, user }) => {
    const exp = Math.floor(Date.now() / 1000) + 300;
    const claims = { iss: issuer.url, aud: resource, exp, scope: "mcp:use", ...user };
    const message = `${base64url(JSON.stringify({ alg: "ES256", kid: "one", typ: "at+jwt" }))}.${base64url(JSON.stringify(claims))}`;
    return `${message}.${sign("sha256", message, { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  };
  const redeem = (fields) => {
    const login = codes.get(fields.get("code"));
    codes.delete(fields.get("code"));
    const challenge = createHash("sha256").update(fields.get("code_verifier") ?? "").digest("base64url");
    return login?.challenge === challenge ? { access_token: token(login), token_type: "Bearer" } : { error: "invalid_grant" };
  };
  const authorize = (asked) => {
    const code = randomBytes(16).toString("hex");
    codes.set(code, { challenge: asked.get("code_challenge"), resource: asked.get("resource"), user: issuer.user });
    const back = new URL(asked.get("redirect_uri"));
    back.search = new URLSearchParams({ code, state: asked.get("state"), iss: issuer.url });
    return back.href;
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, issuer.url);
    let body = "";
    for await (const chunk of request) body += chunk;
    const json = (value) => response.setHeader("Content-Type", "application/json").end(JSON.stringify(value));
    if (url.pathname === "/authorize") response.writeHead(303, { Location: authorize(url.searchParams) }).end();
    else if (url.pathname === "/token") json(redeem(new URLSearchParams(body)));
    else if (url.pathname === "/keys") json({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "one" }] });
    else json({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, authorization_endpoint: `${issuer.url}/authorize`,
      token_endpoint: `${issuer.url}/token`, code_challenge_methods_supported: ["S256"], authorization_response_iss_parameter_supported: true });
  });
  await new Promise((done) => server.listen(0, "localhost", done));
  issuer.url = `http://localhost:${server.address().port}`;
  issuer.close = () => server.close();
  return issuer;
}

async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function startGateway(program, issuer) {
  const folder = mkdtempSync(join(tmpdir(), "countersign-console-"));
  const origin = `http://127.0.0.1:${await freePort()}`;
  const config = join(folder, "config.json");
  writeFileSync(config, JSON.stringify({
    listen: new URL(origin).host, public_url: origin, data_dir: join(folder, "data"), mcpServers: {},
    auth: { manage_groups: ["ops"], issuers: [{ name: "corp", issuer: issuer.url, groups_claim: "/groups", login: { client_id: "console" } }] },
  }), { mode: 0o600 });
  const child = spawn(program, ["serve", "--config", config], { stdio: "ignore" });
  const stop = () => { child.kill(); rmSync(folder, { recursive: true, force: true }); };
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if ((await fetch(`${origin}/readyz`).catch(() => undefined))?.ok) return { origin, stop };
    await new Promise((done) => setTimeout(done, 100));
  }
  stop();
  throw new Error("the gateway with an issuer does not start");
}

export async function issuerSignIn(browser, program, complaints) {
  const issuer = await startIssuer();
  const { origin, stop } = await startGateway(program, issuer);
  try {
    const context = await browser.newContext();
    const page = await watchedPage(context, complaints);
    issuer.user = { sub: "<b>ada", groups: ["ops"] };
    await page.goto(`${origin}/console`);
    await accessible(page, "sign-in with an issuer");
    await page.click("text=Sign in at corp");
    await page.waitForURL(`${origin}/console`);
    check((await page.textContent(".who")).includes("corp:<b>ada, operator"), "a user signs in at an issuer of another site");
    const cookies = (await context.cookies()).filter((one) => one.domain === "127.0.0.1");
    check(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === "Strict", "that session has a Strict cookie and no other");
    await page.click(".who button");
    await page.waitForURL(/sign-in$/);
    issuer.user = { sub: "bob", groups: ["sales"] };
    const other = await context.newPage();
    await other.goto(`${origin}/console/sign-in/corp`);
    const told = await other.textContent("main");
    check(told.includes("corp:bob") && told.includes("auth.read_groups"), "a user without the right is told what is missing");
    await context.close();
  } finally {
    stop();
    issuer.close();
  }
}
