// What server-everything does, asked for by a TypeScript client: each feature gives what was observed of it. features.py is
// the same in Python, and both give their observations the same names.
//
// Ann does everything; Bob is connected meanwhile, and asked at the same time where the server asks.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE } from "./person.mjs";

const TEXT = "demo://resource/dynamic/text/";
const BLOB = "demo://resource/dynamic/blob/";

export const FEATURES = {
    // What the server says of itself, and that it asks for the roots of both as soon as they are there.
    async greeting(ann, bob) {
        const both = await Promise.all([ann, bob].map(async (person) => {
            const { tools } = await person.client.listTools();
            await person.untilLogged("Roots updated");
            return { tools: tools.map(({ name }) => name), asked: person.asked.slice() };
        }));
        return { ...ann.greeting, both, ping: await ann.client.ping() };
    },

    async tools(ann) {
        const { tools } = await ann.client.listTools();
        return {
            tools,
            echo: await ann.call("echo", { message: "grüße, \"wire\" \\ 世界 😀" }),
            sum: await ann.call("get-sum", { a: 0.5, b: 41 }),
            image: await ann.call("get-tiny-image", {}),
            annotated: await ann.call("get-annotated-message", { messageType: "error", includeImage: true }),
            structured: await ann.call("get-structured-content", { location: "Chicago" }),
            links: await ann.call("get-resource-links", { count: 2 }),
            reference: await ann.call("get-resource-reference", { resourceType: "Text", resourceId: 3 }),
            wrong: await ann.call("get-sum", { a: "one", b: 2 }),
        };
    },

    async prompts(ann) {
        const get = (name, args) => ann.client.getPrompt({ name, arguments: args });
        return {
            list: await ann.client.listPrompts(),
            simple: await get("simple-prompt"),
            arguments: await get("args-prompt", { city: "Zürich", state: "ZH" }),
            optional: await get("args-prompt", { city: "Bern" }),
            text: await get("resource-prompt", { resourceType: "Text", resourceId: "5" }),
            blob: await get("resource-prompt", { resourceType: "Blob", resourceId: "5" }),
            missing: await refusal(get("args-prompt", {})),
            unknown: await refusal(get("no-prompt", {})),
        };
    },

    async resources(ann) {
        const read = (uri) => ann.client.readResource({ uri });
        const list = await ann.client.listResources();
        return {
            list,
            templates: await ann.client.listResourceTemplates(),
            documents: await Promise.all(list.resources.map(({ uri }) => read(uri))),
            text: await read(TEXT + 7),
            blob: await read(BLOB + 7),
            wrong: await refusal(read(TEXT + "seven")),
            unknown: await refusal(read("demo://nothing/here")),
        };
    },

    // A tool makes a resource for this session: the list changes, and the resource can be read.
    async "made resources"(ann) {
        const from = ann.heard.length;
        const name = `${ann.mark}.gz`;
        const link = await ann.call("gzip-file-as-resource", { name, data: "data:text/plain;base64,aGVsbG8=" });
        await ann.until((method) => method === "notifications/resources/list_changed", "that the list changed", from);
        const { resources } = await ann.client.listResources();
        const read = await ann.client.readResource({ uri: link.content[0].uri });
        return { link, listed: resources.filter((one) => one.name === name), read };
    },

    async completion(ann) {
        const complete = async (ref, name, value, context) => {
            const params = { ref, argument: { name, value }, ...(context && { context: { arguments: context } }) };
            return (await ann.client.complete(params)).completion;
        };
        const team = { type: "ref/prompt", name: "completable-prompt" };
        return {
            first: await complete(team, "department", "S"),
            second: await complete(team, "name", "", { department: "Sales" }),
            without: await complete(team, "name", ""),
            template: await complete({ type: "ref/resource", uri: TEXT + "{resourceId}" }, "resourceId", "12"),
            none: await complete({ type: "ref/resource", uri: TEXT + "{resourceId}" }, "resourceId", "x"),
            unknown: await refusal(complete({ type: "ref/prompt", name: "no-prompt" }, "name", "")),
        };
    },

    // The server logs each subscription at level info: not at warning, but at debug.
    async logging(ann) {
        const from = ann.heard.length;
        await ann.client.setLoggingLevel("warning");
        await ann.client.subscribeResource({ uri: TEXT + 9 });
        await ann.client.setLoggingLevel("debug");
        await ann.client.unsubscribeResource({ uri: TEXT + 9 });
        await ann.untilLogged("Received Unsubscribe", from);
        const messages = ann.heard.slice(from);
        const on = await ann.call("toggle-simulated-logging", {});
        const { params } = await ann.until(isMessage, "a simulated message", from + messages.length);
        const off = await ann.call("toggle-simulated-logging", {});
        // Its level is random, and its text names the level.
        return { messages, on, off, simulated: params.data.toLowerCase().startsWith(params.level) };
    },

    // The server tells of what is subscribed in the order in which it first was: the second is before the first.
    async subscriptions(ann) {
        const [first, second] = [TEXT + 1, TEXT + 2];
        const updates = async () => {
            const from = ann.heard.length;
            const on = await ann.call("toggle-subscriber-updates", {});
            await ann.until((method, params) => isUpdate(method) && params.uri === first, "an update", from);
            const off = await ann.call("toggle-subscriber-updates", {});
            return { on, off, heard: ann.heard.slice(from).filter(({ method }) => isUpdate(method)) };
        };
        await ann.client.subscribeResource({ uri: second });
        await ann.client.subscribeResource({ uri: first });
        const both = await updates();
        await ann.client.unsubscribeResource({ uri: second });
        const one = await updates();
        await ann.client.unsubscribeResource({ uri: first });
        return { both, one };
    },

    // In the order in which it arrived: the libraries drop progress that comes in one piece with the result.
    async progress(ann) {
        const [seen, from] = [[], ann.arrived.length];
        const onprogress = (progress) => seen.push(progress);
        const result = await ann.call("trigger-long-running-operation", { duration: 0.6, steps: 3 }, { onprogress });
        const news = ann.arrived.slice(from).filter(({ method, result }) => result || method === "notifications/progress");
        const order = news.map(({ params, result }) => (result ? "result" : [params.progress, params.total]));
        return { order, first: seen[0], result };
    },

    // Of what the server got, watch.mjs tells. The call is under way when it is cancelled.
    async cancellation(ann, _bob, target) {
        const giveUp = new AbortController();
        const args = { duration: 30, steps: 120, mark: ann.mark };
        const options = { onprogress: () => giveUp.abort("enough of it"), signal: giveUp.signal };
        const threw = await refusal(ann.call("trigger-long-running-operation", args, options));
        const server = await cancelled(target.cancelled, ann.mark);
        return { threw, server, after: await ann.call("echo", { message: "still here" }) };
    },

    // What Bob heard while Ann did all this.
    async "the other client"(_ann, bob) {
        return bob.heard.slice();
    },

    async sampling(ann, bob) {
        return together(ann, bob, "sampling/createMessage", (person) =>
            person.call("trigger-sampling-request", { prompt: `a question of ${person.mark}`, maxTokens: 50 }));
    },

    async elicitation(ann, bob) {
        const ask = (person) => person.call("trigger-elicitation-request", {});
        const accepted = await together(ann, bob, "elicitation/create", ask);
        ann.action = "decline";
        const declined = await together(ann, bob, "elicitation/create", ask);
        ann.action = "accept";
        return { accepted, declined };
    },

    async "elicitation by URL"(ann, bob) {
        const args = (person, more) => ({ url: `https://example.com/${person.mark}`, elicitationId: person.mark, ...more });
        const open = (person) => person.call("trigger-url-elicitation", args(person));
        const opened = await together(ann, bob, "elicitation/create", open);
        return { opened, required: await refusal(ann.call("trigger-url-elicitation", args(ann, { errorPath: true }))) };
    },

    async roots(ann, bob) {
        const list = (person) => person.call("get-roots-list", {});
        const before = await Promise.all([ann, bob].map(list));
        return { before, changed: await together(ann, bob, "roots/list", async (person) => {
            const from = person.heard.length;
            person.roots = [...person.roots, { uri: `file:///srv/${person.mark}`, name: `more of ${person.mark}` }];
            await person.client.sendRootsListChanged();
            await person.untilLogged("Roots updated: 2", from);
            return list(person);
        }) };
    },
};

// Both do it at once, and each is asked before either answers.
async function together(ann, bob, method, act) {
    const from = [ann, bob].map((person) => person.asked.length);
    ann.meeting.expect(method);
    const results = await Promise.all([act(ann), act(bob)]);
    ann.meeting.expect(null);
    return { results, asked: [ann, bob].map((person, number) => person.asked.slice(from[number])) };
}

async function refusal(promise) {
    try {
        return { answered: await promise };
    } catch (error) {
        return { code: error.code, message: error.message ?? String(error), data: error.data };
    }
}

// The line that the server wrote about the call with this mark.
async function cancelled(file, mark) {
    for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(50)) {
        const line = readFileSync(file, "utf8").split("\n").find((line) => line.endsWith("}") && line.includes(mark));
        if (line) return JSON.parse(line);
    }
    throw new Error("waited in vain: the server hears of the cancellation");
}

const isMessage = (method) => method === "notifications/message";
const isUpdate = (method) => method === "notifications/resources/updated";
