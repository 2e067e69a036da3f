// The TypeScript SDK 2.x, in the era that the job names: "legacy" (what it does by itself) or "auto". It validates results
// of tools that it has listed.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { attend, job } from "./job.mjs";

const { targets, era } = job();

await attend(targets, async (target) => {
    let changed;
    const news = new Promise((resolve) => { changed = resolve; });
    const client = new Client({ name: "typescript-2", version: "0" }, {
        versionNegotiation: { mode: era },
        listChanged: { tools: { autoRefresh: false, onChanged: () => changed() } },
    });
    const transport = target.url
        ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: target.headers } })
        : new StdioClientTransport({ command: target.command, args: target.args, stderr: "ignore" });
    await client.connect(transport);
    return { client, changed: news };
});
