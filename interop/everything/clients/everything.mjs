// Performs every feature with two connected people, for each target of a job (see interop/matrix/clients/job.mjs), and prints
// one line of JSON per target: {"id", "said": {feature: what was observed, or {"failed"}}}.

import { job } from "../clients/job.mjs";
import { FEATURES } from "./features.mjs";
import { Meeting, Person } from "./person.mjs";

// connect(target, person) gives {client, transport, greeting, call(name, arguments, options)}
export async function attend(connect) {
    for (const target of job().targets) {
        const report = { id: target.id, said: {} };
        const meeting = new Meeting();
        const people = ["ann", "bob"].map((name) => new Person(`${target.id}-${name}`, meeting));
        try {
            await Promise.all(people.map(async (person) => arrive(person, await connect(target, person))));
            for (const [name, feature] of Object.entries(FEATURES)) report.said[name] = await attempt(feature, people, target);
        } catch (error) {
            report.error = String(error);
        }
        await Promise.all(people.map((person) => person.client?.close().catch(() => {})));
        // The process ends below, written or not.
        await new Promise((done) => process.stdout.write(JSON.stringify(report) + "\n", done));
    }
    process.exit(0);
}

function arrive(person, { transport, ...connected }) {
    Object.assign(person, connected);
    const pass = transport.onmessage;
    transport.onmessage = (message, extra) => { person.arrived.push(message); pass(message, extra); };
}

// Of a stream that ended with an error as its answer, the libraries ask for the rest, and server-everything then sends again
// what it had sent on other streams. Without this, what arrives directly would differ from run to run.
export const reconnectionOptions = {
    maxRetries: 0, initialReconnectionDelay: 1000, maxReconnectionDelay: 1000, reconnectionDelayGrowFactor: 1,
};

async function attempt(feature, people, target) {
    try {
        return await feature(...people, target);
    } catch (error) {
        return { failed: String(error) };
    }
}
