// The TypeScript SDK 2.x, told to speak the era of the server.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { attend, reconnectionOptions } from "./everything.mjs";

const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

await attend(async (target, person) => {
    const client = new Client({ name: "typescript-2", version: "0" }, { capabilities, versionNegotiation: { mode: "legacy" } });
    for (const method of ["sampling/createMessage", "elicitation/create", "roots/list"]) {
        client.setRequestHandler(method, ({ params }) => person.answer(method, params));
    }
    client.fallbackNotificationHandler = async ({ method, params }) => person.hear(method, params);
    const transport = target.url
        ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: target.headers }, reconnectionOptions })
        : new StdioClientTransport({ command: target.command, args: target.args, stderr: "ignore" });
    await client.connect(transport);
    return {
        client, transport,
        greeting: {
            protocolVersion: client.getNegotiatedProtocolVersion(), capabilities: client.getServerCapabilities(),
            serverInfo: client.getServerVersion(), instructions: client.getInstructions(),
        },
        call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    };
});
