// The TypeScript SDK 1.x.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { attend } from "./client.mjs";

await attend({
    transport: (authProvider, url) => new StreamableHTTPClientTransport(url, { authProvider }),
    connect: async (transport) => {
        const client = new Client({ name: "typescript-1", version: "0" });
        await client.connect(transport);
        return client;
    },
    finish: (transport, parameters) => transport.finishAuth(parameters.get("code")),
});
