// The TypeScript SDK 1.x. It validates results of tools that it has listed.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { attend, job } from "./job.mjs";

await attend(job().targets, async (target) => {
    const client = new Client({ name: "typescript-1", version: "0" });
    const changed = new Promise((resolve) => {
        client.setNotificationHandler(ToolListChangedNotificationSchema, resolve);
    });
    const transport = target.url
        ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: target.headers } })
        : new StdioClientTransport({ command: target.command, args: target.args, stderr: "ignore" });
    await client.connect(transport);
    return { client, changed };
});
