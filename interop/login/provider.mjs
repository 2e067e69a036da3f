// An authorization server with resource indicators. Tokens live for a few seconds, so that clients have to refresh them. The first
// token of a client lacks the scope that the gateway asks for, so that clients have to step up; not so that of the gateway's own.
//
//   node provider.mjs       prints its address, then serves; GET /stats says what each client did

import { createServer } from "node:http";
import Provider from "oidc-provider";

const LIFETIME = 6;

const server = createServer().listen(0, "127.0.0.1", () => {
    const issuer = `http://127.0.0.1:${server.address().port}`;
    const seen = new Map();
    const of = (client) => {
        const name = client?.clientName ?? "unknown";
        if (!seen.has(name)) seen.set(name, { logins: 0, codes: 0, refreshes: 0 });
        return seen.get(name);
    };
    const provider = new Provider(issuer, {
        scopes: ["openid", "offline_access", "mcp:use", "mcp:look"],
        clientDefaults: { application_type: "native", token_endpoint_auth_method: "none" },
        clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
        pkce: { required: () => true },
        rotateRefreshToken: true,
        issueRefreshToken: async () => true,
        ttl: { Interaction: 600, Session: 600, Grant: 600, RefreshToken: 600, AccessToken: LIFETIME, IdToken: LIFETIME },
        cookies: { keys: ["a key for tests"] },
        // For the console: one user may read it.
        extraTokenClaims: async (context, token) => ({ groups: token.accountId === "ada" ? ["watch"] : ["sales"] }),
        features: {
            registration: { enabled: true },
            resourceIndicators: {
                enabled: true,
                useGrantedResource: async () => true,
                getResourceServerInfo: async (context, resource, client) => ({
                    audience: resource,
                    scope: of(client).codes > 0 || client.clientName === "Countersign" ? "mcp:use mcp:look" : "mcp:look",
                    accessTokenFormat: "jwt",
                    accessTokenTTL: LIFETIME,
                    jwt: { sign: { alg: "RS256" } },
                }),
            },
        },
    });
    provider.on("authorization.accepted", (context) => { of(context.oidc.client).logins += 1; });
    provider.on("grant.success", (context) => {
        const kind = context.oidc.params.grant_type === "refresh_token" ? "refreshes" : "codes";
        of(context.oidc.client)[kind] += 1;
    });
    provider.on("server_error", (context, error) => console.error(error));
    for (const name of ["authorization.error", "grant.error", "registration_create.error"]) {
        provider.on(name, (context, error) => console.error(name, error.error_description ?? error.message));
    }
    const serve = provider.callback();
    server.on("request", (request, response) => {
        if (request.url === "/stats") {
            response.end(JSON.stringify(Object.fromEntries(seen)));
        } else {
            serve(request, response);
        }
    });
    console.log(issuer);
});
