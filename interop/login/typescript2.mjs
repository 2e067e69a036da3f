// The TypeScript SDK 2.x.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { attend } from "./client.mjs";

await attend({
    transport: (authProvider, url) => new StreamableHTTPClientTransport(url, { authProvider }),
    connect: async (transport) => {
        const client = new Client({ name: "typescript-2", version: "0" });
        await client.connect(transport);
        return client;
    },
    finish: (transport, parameters) => transport.finishAuth(parameters),
});
