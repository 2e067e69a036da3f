// The TypeScript SDK 1.x.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { attend, reconnectionOptions } from "./everything.mjs";

const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

await attend(async (target, person) => {
    const client = new Client({ name: "typescript-1", version: "0" }, { capabilities });
    for (const schema of [CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema]) {
        client.setRequestHandler(schema, ({ method, params }) => person.answer(method, params));
    }
    client.fallbackNotificationHandler = async ({ method, params }) => person.hear(method, params);
    const transport = target.url
        ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: target.headers }, reconnectionOptions })
        : new StdioClientTransport({ command: target.command, args: target.args, stderr: "ignore" });
    // The client itself does not tell which version was agreed on.
    let protocolVersion;
    const setVersion = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (version) => { protocolVersion = version; setVersion?.(version); };
    await client.connect(transport);
    return {
        client, transport,
        greeting: {
            protocolVersion, capabilities: client.getServerCapabilities(),
            serverInfo: client.getServerVersion(), instructions: client.getInstructions(),
        },
        call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    };
});
