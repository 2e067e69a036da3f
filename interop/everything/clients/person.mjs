// One of two people who are connected at the same time. A person answers the server's questions with a mark of their own, and
// remembers what they heard and what they were asked. person.py is the same in Python.

export const PATIENCE = 20_000;

// Nothing waits for ever.
export function soon(promise, what) {
    let timer;
    const late = new Promise((_, reject) => { timer = setTimeout(reject, PATIENCE, new Error(`waited in vain: ${what}`)); });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Where two questions of one kind wait for each other, so that both are open at the same time.
export class Meeting {
    #method; #expected = 0; #all = () => {}; #met = Promise.resolve();

    expect(method) {
        this.#method = method;
        this.#expected = 2;
        this.#met = new Promise((resolve) => { this.#all = resolve; });
    }

    async at(method) {
        if (method !== this.#method) return;
        if (--this.#expected === 0) this.#all();
        await soon(this.#met, `both are asked ${method}`);
    }
}

export class Person {
    // Notifications, questions, and every message of the server in the order in which it came.
    heard = []; asked = []; arrived = [];
    action = "accept"; #changed = () => {};

    constructor(mark, meeting) {
        this.mark = mark;
        this.meeting = meeting;
        this.roots = [{ uri: `file:///home/${mark}`, name: mark }];
    }

    hear(method, params) {
        this.heard.push({ method, params });
        this.#changed();
    }

    // The first notification from this place on for which `found` holds.
    async until(found, what, from = 0) {
        for (;;) {
            const news = this.heard.slice(from).find(({ method, params }) => found(method, params));
            if (news) return news;
            await soon(new Promise((resolve) => { this.#changed = resolve; }), `${this.mark} hears ${what}`);
        }
    }

    untilLogged(text, from) {
        return this.until((method, params) => method === "notifications/message" && String(params.data).includes(text), text, from);
    }

    async answer(method, params) {
        this.asked.push({ method, params });
        await this.meeting.at(method);
        return this.#own(method, params);
    }

    #own(method, params) {
        if (method === "roots/list") return { roots: this.roots };
        if (method === "sampling/createMessage") {
            const content = { type: "text", text: `sampled by ${this.mark}` };
            return { role: "assistant", model: `model of ${this.mark}`, content, stopReason: "endTurn" };
        }
        if (params.mode === "url" || this.action !== "accept") return { action: this.action };
        return { action: "accept", content: { name: this.mark, check: true, integer: 7, untitledMultipleSelectEnum: ["Bass"] } };
    }
}
