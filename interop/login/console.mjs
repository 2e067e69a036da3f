// Users sign in to the console at a real authorization server: one who may read, and one who may not.

import { browse, check } from "./connect.mjs";

export async function signInToConsole({ url }) {
    const form = await (await fetch(`${url}/console/sign-in`)).text();
    check(form.includes('href="/console/sign-in/corp"'), "no link to the issuer", form);
    const overview = await browse(`${url}/console/sign-in/corp`, "ada", "/console");
    check(overview.includes("corp:ada, viewer"), "not signed in", overview);
    const refused = await browse(`${url}/console/sign-in/corp`, "bob", "/console");
    check(refused.includes("corp:bob") && refused.includes("auth.read_groups"), "not told what is missing", refused);
}
