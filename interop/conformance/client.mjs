// The client of the suite's client scenarios: the TypeScript SDK 2.x. The suite starts it with the address of the server of
// a scenario. With COUNTERSIGN set to the program, a gateway stands between them.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startGateway } from "./gateway.mjs";

const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const isModern = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === "2026-07-28";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const server = process.argv.at(-1);

// Arguments that a tool's schema asks for, whatever they are.
function argumentsFor(tool) {
    const value = (schema) => ({ string: "text", number: 5, integer: 5, boolean: true, array: [], object: {} })[schema.type] ?? null;
    const required = tool.inputSchema.required ?? [];
    return Object.fromEntries(required.map((name) => [name, value(tool.inputSchema.properties?.[name] ?? {})]));
}

// Accepts with the defaults of the form, as SEP-1034 wants it.
function acceptWithDefaults(request) {
    const properties = request.params?.requestedSchema?.properties ?? {};
    const given = Object.entries(properties).filter(([, schema]) => "default" in schema);
    return { action: "accept", content: Object.fromEntries(given.map(([name, schema]) => [name, schema.default])) };
}

// Some servers of the suite answer in a way that the SDK refuses. The suite's checks decide, not the SDK.
function report(error) {
    console.error(`refused: ${error.message}`);
}

async function use(client) {
    const capabilities = client.getServerCapabilities() ?? {};
    const { tools } = await client.listTools();
    if (scenario === "json-schema-2020-12-preservation") {
        const echo = tools.find((tool) => tool.name === "json_schema_echo") ?? tools[1];
        await client.callTool({ name: echo.name, arguments: { schema: tools.find((tool) => tool !== echo).inputSchema } });
        return;
    }
    const calls = context.toolCalls ?? tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool) }));
    for (const call of calls) await client.callTool(call).catch(report);
    if (capabilities.resources) {
        for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
    }
    if (capabilities.prompts) {
        for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
    }
}

const program = process.env.COUNTERSIGN;
const era = isModern ? "modern" : "legacy";
const gateway = program ? await startGateway(program, { url: server, era }) : undefined;
const client = new Client({ name: "conformance", version: "0" }, {
    capabilities: { elicitation: { form: { applyDefaults: true } } },
    versionNegotiation: { mode: isModern ? "auto" : "legacy" },
});
client.setRequestHandler("elicitation/create", acceptWithDefaults);
try {
    await client.connect(new StreamableHTTPClientTransport(new URL(gateway?.url ?? server)));
    await use(client);
} finally {
    await client.close();
    await gateway?.stop();
}
