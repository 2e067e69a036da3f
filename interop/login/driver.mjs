// Starts an authorization server and a gateway, and lets each client sign in, step up, call and refresh on two endpoints.
//
//   node driver.mjs WORK BINARIES      WORK: where everything is installed; BINARIES: countersign and the fixture

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connect, register } from "./connect.mjs";
import { signInToConsole } from "./console.mjs";

const [, , work, binaries] = process.argv;
// Longer than tokens live, and than the difference of clocks that is allowed.
const WAIT = 9000;
const CLIENTS = [
    ["typescript-1", process.execPath, "typescript1.mjs"],
    ["typescript-2", process.execPath, "typescript2.mjs"],
    ["python-1", join(work, "python1/bin/python"), "python1.py"],
    ["python-2", join(work, "python2/bin/python"), "python2.py"],
];
const ENDPOINTS = [["/mcp", "x__conforming"], ["/mcp/s/x", "conforming"]];

const started = [];
const home = mkdtempSync(join(tmpdir(), "countersign-login-"));

function start(program, args, environment = {}) {
    const env = { ...process.env, ...environment };
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env });
    child.stderr.on("data", (bytes) => { child.said = ((child.said ?? "") + bytes).slice(-8000); });
    child.ended = new Promise((resolve) => child.on("exit", resolve));
    started.push(child);
    return child;
}

function freePort() {
    return new Promise((resolve) => {
        const server = createServer().listen(0, "127.0.0.1", () => {
            const { port } = server.address();
            server.close(() => resolve(port));
        });
    });
}

async function startProvider() {
    const provider = start(process.execPath, [join(work, "provider.mjs")]);
    for await (const line of createInterface({ input: provider.stdout })) return line;
    throw new Error(`no authorization server: ${provider.said}`);
}

const fixture = { command: join(binaries, "countersign-fixture"), args: ["stdio", "--preset", "demo"] };

// Starts a gateway that accepts tokens of the issuer. `settings` makes the rest of its configuration of its address.
async function startGateway(issuer, settings) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const data_dir = mkdtempSync(join(home, "data-"));
    const config = join(data_dir, "mcp_config.json");
    const { login, ...more } = await settings(url);
    writeFileSync(config, JSON.stringify({
        listen: `127.0.0.1:${port}`,
        public_url: url,
        data_dir,
        auth: { read_groups: ["watch"], issuers: [{ name: "corp", issuer, clock_skew: "1s", groups_claim: "/groups", login }] },
        ...more,
    }), { mode: 0o600 });
    const gateway = start(join(binaries, "countersign"), ["serve", "--config", config]);
    gateway.stdout.resume();
    for (let attempt = 0; attempt < 200; attempt += 1) {
        const ready = await fetch(`${url}/readyz`).catch(() => undefined);
        if (ready?.ok) return { url, config };
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`no gateway: ${gateway.said}`);
}

// A server where each caller logs in: a gateway before another one, whose console opens to users. Gives for each step what went
// wrong, if anything did.
async function signInWithBrowsers(issuer) {
    const server = await startGateway(issuer, () => ({ mcpServers: { x: fixture } }));
    const key = "cs_a-key-for-the-interop-test-of-logins";
    const gateway = await startGateway(issuer, async (url) => ({
        api_key: key,
        login: { client_id: (await register(issuer, `${url}/login/callback`, "web")).id },
        mcpServers: { crm: { url: `${server.url}/mcp/s/x`, oauth: { credentials: "caller" } } },
    }));
    const settled = (run) => run.then(() => undefined, (error) => error);
    return {
        "/connect/crm: an account for each caller": await settled(connect({ issuer, key, program: join(binaries, "countersign"), ...gateway })),
        "/console: a reader, and a user without the right": await settled(signInToConsole(gateway)),
    };
}

async function signIn([client, program, script], [path, tool], url) {
    const name = `${client} ${path}`;
    const child = start(program, [join(work, script), name, url + path, tool, String(WAIT), process.execPath]);
    child.stdout.resume();
    const code = await child.ended;
    return { name, code, said: child.said };
}

async function main() {
    const issuer = await startProvider();
    const { url } = await startGateway(issuer, () => ({ routing_mode: "direct", mcpServers: { x: fixture } }));
    const browsers = signInWithBrowsers(issuer);
    const runs = CLIENTS.flatMap((client) => ENDPOINTS.map((endpoint) => signIn(client, endpoint, url)));
    const results = await Promise.all(runs);
    const stats = await (await fetch(`${issuer}/stats`)).json();
    let failed = 0;
    for (const { name, code, said } of results) {
        const { logins = 0, refreshes = 0 } = stats[name] ?? {};
        const passed = code === 0 && logins === 2 && refreshes > 0;
        console.log(`${passed ? "ok    " : "FAILED"} ${name}: ${logins} logins (the second with more scope), ${refreshes} refreshes`);
        if (!passed) {
            failed += 1;
            console.log(`exit code ${code}\n${said ?? ""}`);
        }
    }
    for (const [step, problem] of Object.entries(await browsers)) {
        console.log(problem ? `FAILED ${step}: ${problem}` : `ok     ${step}`);
        if (problem) failed += 1;
    }
    return failed === 0 ? 0 : 1;
}

let code = 1;
try {
    code = await main();
} catch (error) {
    console.log(error);
}
for (const child of started) child.kill();
await Promise.all(started.map((child) => child.ended));
rmSync(home, { recursive: true, force: true });
process.exit(code);
