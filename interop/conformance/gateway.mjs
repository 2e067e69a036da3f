// A gateway in front of the server of one scenario, for the drivers of the suite's client scenarios.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Starts a gateway with one server. Gives the address of its endpoint, its configuration file, and what stops it.
export async function startGateway(program, server) {
    const folder = mkdtempSync(join(tmpdir(), "countersign-"));
    const config = join(folder, "config.json");
    writeFileSync(config, JSON.stringify({
        listen: "127.0.0.1:0",
        require_mcp_auth: false,
        data_dir: join(folder, "data"),
        mcpServers: { scenario: server },
    }), { mode: 0o600 });
    const gateway = spawn(program, ["serve", "--config", config], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const address = await new Promise((resolve, reject) => {
        const read = (chunk) => {
            output += chunk;
            const found = /serving at (http:\S+)/.exec(output);
            if (found) resolve(found[1]);
        };
        gateway.stdout.on("data", read);
        gateway.stderr.on("data", read);
        gateway.on("exit", () => reject(new Error(`the gateway ended: ${output}`)));
    });
    const stop = () => new Promise((resolve) => {
        gateway.removeAllListeners("exit");
        gateway.on("exit", () => { rmSync(folder, { recursive: true, force: true }); resolve(); });
        gateway.kill("SIGINT");
    });
    return { url: `${address}/s/scenario`, config, stop };
}
