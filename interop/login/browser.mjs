// A user with a browser: follows redirects, keeps cookies, fills in the login and agrees to everything. Gives the address that the
// browser would open at the end, which is the client's.
//
//   node browser.mjs URL    prints it

import { pathToFileURL } from "node:url";

export async function visit(start, user = "ada") {
    const cookies = new Map();
    const origin = new URL(start).origin;
    let url = new URL(start);
    let form;
    for (let step = 0; step < 20; step += 1) {
        if (url.origin !== origin) return url;
        const response = await fetch(url, {
            method: form ? "POST" : "GET",
            body: form,
            redirect: "manual",
            headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
        });
        for (const line of response.headers.getSetCookie()) {
            const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
            if (value) cookies.set(name, value);
            else cookies.delete(name);
        }
        form = undefined;
        const location = response.headers.get("location");
        if (location) {
            url = new URL(location, url);
            continue;
        }
        const page = await response.text();
        const action = /<form[^>]* action="([^"]+)"/.exec(page);
        if (!action) throw new Error(`no form at ${url.pathname}: ${response.status} ${page.slice(0, 2000)}`);
        const prompt = /name="prompt" value="([^"]+)"/.exec(page)[1];
        url = new URL(action[1].replaceAll("&amp;", "&"), url);
        form = new URLSearchParams({ prompt, login: user, password: "x" });
    }
    throw new Error("the login does not end");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    console.log((await visit(process.argv[2])).href);
}
