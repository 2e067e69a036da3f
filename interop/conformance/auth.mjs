// The client of the suite's scenarios under auth/: a gateway with `oauth` for the server of the scenario. The user's part of a
// login is played here: `countersign auth login --no-browser` prints an address, and gets the one it redirects to.

import { spawn } from "node:child_process";
import { startGateway } from "./gateway.mjs";

const program = process.env.COUNTERSIGN;
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const isModern = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === "2026-07-28";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const server = process.argv.at(-1);

function oauth() {
    const { client_id, client_secret, private_key_pem: private_key, signing_algorithm } = context;
    const client = client_id ? { client_id, client_secret, private_key, signing_algorithm } : {};
    if (scenario.includes("client-credentials")) return { grant: "client_credentials", ...client };
    if (scenario.includes("cimd")) return { client_metadata_url: "https://conformance-test.local/client-metadata.json" };
    return client;
}

// One login. A user's browser follows the redirect of the authorization server; here that is one request.
async function login(config) {
    const command = spawn(program, ["auth", "login", "scenario", "--no-browser", "--config", config], { stdio: ["pipe", "ignore", "pipe"] });
    let output = "";
    let asked = false;
    const ended = new Promise((resolve) => command.on("exit", resolve));
    command.stderr.on("data", async (chunk) => {
        output += chunk;
        const found = /^ {2}(http\S+)$/m.exec(output);
        if (!found || asked) return;
        asked = true;
        const response = await fetch(found[1], { redirect: "manual" });
        command.stdin.end(`${response.headers.get("location") ?? ""}\n`);
    });
    const code = await ended;
    if (code !== 0) throw new Error(`the login failed: ${output}`);
}

async function ask(url, method, params) {
    const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const text = await response.text();
    const data = text.split("\n").find((line) => line.startsWith("data: {"));
    return JSON.parse(data ? data.slice(6) : text);
}

// Waits until the gateway has the tools of the server; nothing if it does not get them.
async function listed(url) {
    for (let tries = 0; tries < 50; tries += 1) {
        const { result } = await ask(url, "tools/list", {});
        if (result?.tools?.length) return result.tools;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return [];
}

const era = isModern ? "modern" : "legacy";
const { url, config, stop } = await startGateway(program, { url: server, era, isolation: "shared", oauth: oauth() });
try {
    const hasUser = !scenario.includes("client-credentials");
    // A server that asks for more is logged in to again, but not for ever.
    for (let logins = 0; logins < (hasUser ? 3 : 1); logins += 1) {
        if (hasUser) await login(config);
        const [tool] = await listed(url);
        const call = tool && await ask(url, "tools/call", { name: tool.name, arguments: {} });
        if (call?.result && !call.result.isError) break;
        console.error(`refused: ${JSON.stringify(call ?? "no tools")}`);
    }
} finally {
    await stop();
}
