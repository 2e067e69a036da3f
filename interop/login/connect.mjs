// A server where each caller has a token of its own, with a real authorization server: the server is a gateway itself, which accepts
// tokens of that authorization server only. A user connects an account with a browser at /connect/crm, an operator logs in for a
// caller with a key, and a second user stays without.

import { createHash, randomBytes } from "node:crypto";
import { spawn } from "node:child_process";
import { visit } from "./browser.mjs";

const META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "connect", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
};
export const TOOL = "conforming";

export function check(condition, what, seen) {
    if (!condition) throw new Error(`${what}: ${JSON.stringify(seen)}`);
}

async function json(url, options) {
    const response = await fetch(url, options);
    return response.json();
}

// A public client at the authorization server. Clients of this name get all scopes at once.
export async function register(issuer, redirect, application_type) {
    const metadata = await json(`${issuer}/.well-known/openid-configuration`);
    const body = { client_name: "Countersign", redirect_uris: [redirect], application_type,
        grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], token_endpoint_auth_method: "none" };
    const headers = { "content-type": "application/json" };
    const client = await json(metadata.registration_endpoint, { method: "POST", headers, body: JSON.stringify(body) });
    check(client.client_id, "not registered", client);
    return { id: client.client_id, redirect, metadata };
}

// The access token of a user, as an MCP client gets it.
async function token(client, user, resource) {
    const verifier = randomBytes(32).toString("base64url");
    const code_challenge = createHash("sha256").update(verifier).digest("base64url");
    const query = new URLSearchParams({ response_type: "code", client_id: client.id, redirect_uri: client.redirect, scope: "mcp:use",
        resource, state: "s", code_challenge, code_challenge_method: "S256" });
    const back = await visit(`${client.metadata.authorization_endpoint}?${query}`, user);
    const body = new URLSearchParams({ grant_type: "authorization_code", code: back.searchParams.get("code") ?? "",
        redirect_uri: client.redirect, client_id: client.id, code_verifier: verifier, resource });
    const granted = await json(client.metadata.token_endpoint, { method: "POST", body });
    check(granted.access_token, "no token", granted);
    return granted.access_token;
}

async function call(url, headers) {
    const params = { name: TOOL, arguments: {}, _meta: META };
    const response = await fetch(`${url}/mcp/s/crm`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": TOOL, ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const text = await response.text();
    const data = text.split("\n").find((line) => line.startsWith("data: {"));
    return JSON.parse(data ? data.slice(6) : text);
}

// A browser that goes wherever it is sent, fills in logins and agrees. Gives the last page, or the page at the path `until`.
export async function browse(start, user, until) {
    const jars = new Map();
    let [url, form] = [new URL(start), undefined];
    for (let step = 0; step < 40; step += 1) {
        if (!jars.has(url.origin)) jars.set(url.origin, new Map());
        const jar = jars.get(url.origin);
        const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") };
        if (form) headers.origin = url.origin;
        const response = await fetch(url, { method: form ? "POST" : "GET", body: form, redirect: "manual", headers });
        for (const line of response.headers.getSetCookie()) {
            const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
            if (value) jar.set(name, value);
            else jar.delete(name);
        }
        form = undefined;
        const location = response.headers.get("location");
        if (location) {
            url = new URL(location, url);
            continue;
        }
        const page = await response.text();
        if (url.pathname === until) return page;
        const value = (name) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1];
        const refresh = /http-equiv="refresh" content="0;url=([^"]+)"/.exec(page);
        if (refresh) {
            url = new URL(refresh[1].replaceAll("&amp;", "&"), url);
        } else if (value("csrf")) {
            form = new URLSearchParams({ csrf: value("csrf") });
        } else if (value("prompt")) {
            url = new URL(/<form[^>]* action="([^"]+)"/.exec(page)[1].replaceAll("&amp;", "&"), url);
            form = new URLSearchParams({ prompt: value("prompt"), login: user, password: "x" });
        } else {
            return page;
        }
    }
    throw new Error("the browser does not come to an end");
}

// `countersign auth login` without a browser of its own: the address that it prints is visited here.
export async function logIn(program, config, user, more = []) {
    const command = spawn(program, ["auth", "login", "crm", "--no-browser", "--config", config, ...more],
        { stdio: ["pipe", "ignore", "pipe"] });
    let output = "";
    let asked = false;
    const ended = new Promise((resolve) => command.on("exit", resolve));
    command.stderr.on("data", async (chunk) => {
        output += chunk;
        const found = /^ {2}(http\S+)$/m.exec(output);
        if (!found || asked) return;
        asked = true;
        command.stdin.end(`${(await visit(found[1], user)).href}\n`);
    });
    check(await ended === 0, "the login failed", output);
}

async function listed(url, headers) {
    for (let attempt = 0; attempt < 100; attempt += 1) {
        const answer = await call(url, headers);
        if (answer.error === undefined) return answer;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error("the tools of the server are not listed");
}

export async function connect({ issuer, url, config, program, key }) {
    const agent = await register(issuer, "http://127.0.0.1/agent", "native");
    const bearer = async (user) => ({ authorization: `Bearer ${await token(agent, user, `${url}/mcp/s/crm`)}` });
    await logIn(program, config, "operator");
    const asked = await listed(url, await bearer("ada"));
    const link = asked.result?.inputRequests?.countersign_login?.params?.url;
    check(asked.result?.resultType === "input_required" && link?.startsWith(`${url}/connect/crm?`), "not asked", asked);
    const forwarded = await browse(link, "eve");
    check(forwarded.includes("made for another user"), "a forwarded link was taken", forwarded);
    const page = await browse(link, "ada");
    check(page.includes("is connected"), "not connected", page);
    const called = await call(url, await bearer("ada"));
    check(called.result?.resultType === "complete" && !called.result.isError, "the call failed", called);
    const other = await call(url, await bearer("bob"));
    check(other.result?.resultType === "input_required", "another user was not asked", other);
    const withKey = { "x-api-key": key };
    const told = await call(url, withKey);
    check(JSON.stringify(told).includes("--caller key:client"), "a key was not told", told);
    await logIn(program, config, "robot", ["--caller", "key:client"]);
    const robot = await call(url, withKey);
    check(robot.result?.resultType === "complete" && !robot.result.isError, "the call with a key failed", robot);
}
