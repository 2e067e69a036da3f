// What both TypeScript clients do: sign in as often as they are told to, call a tool, wait until the token has expired, call again.

import { visit } from "./browser.mjs";

const [, , name, url, tool, wait] = process.argv;

// Everything that a client remembers about an authorization server.
export class Memory {
    redirectUrl = "http://127.0.0.1:1/callback";
    clientMetadata = {
        client_name: name,
        redirect_uris: [this.redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        application_type: "native",
    };
    clientInformation() { return this.client; }
    saveClientInformation(client) { this.client = client; }
    tokens() { return this.saved; }
    saveTokens(tokens) { this.saved = tokens; }
    codeVerifier() { return this.verifier; }
    saveCodeVerifier(verifier) { this.verifier = verifier; }
    async redirectToAuthorization(address) { this.callback = await visit(address.href); }
}

// connect: gives a connected client, or throws; finish: hands the callback's parameters to the transport.
export async function attend({ transport, connect, finish }) {
    const memory = new Memory();
    let client;
    let connection = transport(memory, new URL(url));
    for (let attempt = 0; ; attempt += 1) {
        try {
            client = await connect(connection);
            break;
        } catch (error) {
            if (attempt === 3) throw error;
            if (memory.callback) await finish(connection, memory.callback.searchParams);
            // SDK 1.x answers a 403 with a refresh, which brings no scope: an application has to sign the user in again.
            else if (error.code === 403) memory.saved = undefined;
            else throw error;
            memory.callback = undefined;
            connection = transport(memory, new URL(url));
        }
    }
    await check(client);
    await new Promise((resolve) => setTimeout(resolve, Number(wait)));
    await check(client);
    await client.close();
}

async function check(client) {
    const { tools } = await client.listTools();
    if (!tools.some((known) => known.name === tool)) throw new Error(`no ${tool} in ${tools.map((it) => it.name)}`);
    const result = await client.callTool({ name: tool, arguments: {} });
    if (result.isError || !result.content) throw new Error(JSON.stringify(result));
}
