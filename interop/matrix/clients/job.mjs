// What both TypeScript clients do with a job: connect to each target, list, call, say what came of it.
//
// A job is a file of JSON: {"targets": [{"id", "url", "headers"} or {"id", "command", "args"}, each with "calls"]}.
// One line of JSON per target goes to stdout. Before a call with "list" the tools are listed again; before one with "listen",
// once the client was told that the list has changed. A call with "until" is repeated until there is a file of that name; that
// of "began" is made after the first time.

import { existsSync, readFileSync, writeFileSync } from "node:fs";

const PATIENCE = 60_000;

export function job() {
    return JSON.parse(readFileSync(process.argv[2], "utf8"));
}

// attend(targets, connect): connect(target) gives {client, changed}
export async function attend(targets, connect) {
    for (const target of targets) {
        const report = { id: target.id, calls: [] };
        let client;
        try {
            const connected = await connect(target);
            client = connected.client;
            report.tools = (await client.listTools()).tools.map((tool) => tool.name);
            for (const call of target.calls) {
                if (call.listen) await soon(connected.changed);
                if (call.listen || call.list) await client.listTools();
                report.calls.push(await outcome(client, call));
                if (call.began) writeFileSync(call.began, "");
                while (call.until && !existsSync(call.until)) report.calls.push(await outcome(client, call));
            }
        } catch (error) {
            report.error = String(error);
        }
        await client?.close().catch(() => {});
        process.stdout.write(JSON.stringify(report) + "\n");
    }
    process.exit(0);
}

// Nothing waits for ever.
function soon(news) {
    const late = new Promise((_, reject) => setTimeout(reject, PATIENCE, new Error("no news of a changed list")).unref());
    return Promise.race([news, late]);
}

async function outcome(client, call) {
    try {
        const result = await client.callTool({ name: call.name, arguments: call.arguments });
        return { structured: result.structuredContent, isError: result.isError === true };
    } catch (error) {
        return { threw: String(error) };
    }
}
