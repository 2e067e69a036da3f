"""What server-everything does, asked for by a Python client: each feature gives what was observed of it. features.mjs is the
same in JavaScript, and both give their observations the same names.

Ann does everything; Bob is connected meanwhile, and asked at the same time where the server asks.
"""

import asyncio
import json
import time

from person import PATIENCE, is_message, is_update, soon

TEXT = "demo://resource/dynamic/text/"
BLOB = "demo://resource/dynamic/blob/"


async def greeting(ann, bob, _target):
    """What the server says of itself, and that it asks for the roots of both as soon as they are there."""
    async def arrive(person):
        tools = (await person.client.list_tools())["tools"]
        await person.until_logged("Roots updated")
        return {"tools": [tool["name"] for tool in tools], "asked": list(person.asked)}

    both = await asyncio.gather(arrive(ann), arrive(bob))
    return {**ann.client.greeting, "both": both, "ping": await ann.client.ping()}


async def tools(ann, _bob, _target):
    call = ann.client.call
    return {
        **await ann.client.list_tools(),
        "echo": await call("echo", {"message": "grüße, \"wire\" \\ 世界 😀"}),
        "sum": await call("get-sum", {"a": 0.5, "b": 41}),
        "image": await call("get-tiny-image", {}),
        "annotated": await call("get-annotated-message", {"messageType": "error", "includeImage": True}),
        "structured": await call("get-structured-content", {"location": "Chicago"}),
        "links": await call("get-resource-links", {"count": 2}),
        "reference": await call("get-resource-reference", {"resourceType": "Text", "resourceId": 3}),
        "wrong": await call("get-sum", {"a": "one", "b": 2}),
    }


async def prompts(ann, _bob, _target):
    get = ann.client.get_prompt
    return {
        "list": await ann.client.list_prompts(),
        "simple": await get("simple-prompt"),
        "arguments": await get("args-prompt", {"city": "Zürich", "state": "ZH"}),
        "optional": await get("args-prompt", {"city": "Bern"}),
        "text": await get("resource-prompt", {"resourceType": "Text", "resourceId": "5"}),
        "blob": await get("resource-prompt", {"resourceType": "Blob", "resourceId": "5"}),
        "missing": await refusal(get("args-prompt", {})),
        "unknown": await refusal(get("no-prompt", {})),
    }


async def resources(ann, _bob, _target):
    read = ann.client.read_resource
    listed = await ann.client.list_resources()
    return {
        "list": listed,
        "templates": await ann.client.list_resource_templates(),
        "documents": await asyncio.gather(*(read(resource["uri"]) for resource in listed["resources"])),
        "text": await read(f"{TEXT}7"),
        "blob": await read(f"{BLOB}7"),
        "wrong": await refusal(read(f"{TEXT}seven")),
        "unknown": await refusal(read("demo://nothing/here")),
    }


async def made_resources(ann, _bob, _target):
    """A tool makes a resource for this session: the list changes, and the resource can be read."""
    start, name = len(ann.heard), f"{ann.mark}.gz"
    link = await ann.client.call("gzip-file-as-resource", {"name": name, "data": "data:text/plain;base64,aGVsbG8="})
    await ann.until(lambda method, _: method == "notifications/resources/list_changed", "that the list changed", start)
    listed = (await ann.client.list_resources())["resources"]
    read = await ann.client.read_resource(link["content"][0]["uri"])
    return {"link": link, "listed": [one for one in listed if one["name"] == name], "read": read}


async def completion(ann, _bob, _target):
    async def complete(ref, name, value, context=None):
        return (await ann.client.complete(ref, {"name": name, "value": value}, context))["completion"]

    team = {"type": "ref/prompt", "name": "completable-prompt"}
    template = {"type": "ref/resource", "uri": f"{TEXT}{{resourceId}}"}
    return {
        "first": await complete(team, "department", "S"),
        "second": await complete(team, "name", "", {"department": "Sales"}),
        "without": await complete(team, "name", ""),
        "template": await complete(template, "resourceId", "12"),
        "none": await complete(template, "resourceId", "x"),
        "unknown": await refusal(complete({"type": "ref/prompt", "name": "no-prompt"}, "name", "")),
    }


async def logging(ann, _bob, _target):
    """The server logs each subscription at level info: not at warning, but at debug."""
    start = len(ann.heard)
    await ann.client.set_level("warning")
    await ann.client.subscribe(f"{TEXT}9")
    await ann.client.set_level("debug")
    await ann.client.unsubscribe(f"{TEXT}9")
    await ann.until_logged("Received Unsubscribe", start)
    messages = ann.heard[start:]
    on = await ann.client.call("toggle-simulated-logging", {})
    simulated = (await ann.until(is_message, "a simulated message", start + len(messages)))["params"]
    off = await ann.client.call("toggle-simulated-logging", {})
    # Its level is random, and its text names the level.
    return {"messages": messages, "on": on, "off": off, "simulated": simulated["data"].lower().startswith(simulated["level"])}


async def subscriptions(ann, _bob, _target):
    """The server tells of what is subscribed in the order in which it first was: the second is before the first."""
    first, second = f"{TEXT}1", f"{TEXT}2"

    async def updates():
        start = len(ann.heard)
        on = await ann.client.call("toggle-subscriber-updates", {})
        await ann.until(lambda method, params: is_update(method) and params["uri"] == first, "an update", start)
        off = await ann.client.call("toggle-subscriber-updates", {})
        return {"on": on, "off": off, "heard": [news for news in ann.heard[start:] if is_update(news["method"])]}

    await ann.client.subscribe(second)
    await ann.client.subscribe(first)
    both = await updates()
    await ann.client.unsubscribe(second)
    one = await updates()
    await ann.client.unsubscribe(first)
    return {"both": both, "one": one}


async def progress(ann, _bob, _target):
    order = []

    async def reported(done, total, _message):
        order.append([done, total])

    result = await ann.client.call("trigger-long-running-operation", {"duration": 0.6, "steps": 3}, reported)
    order.append("result")
    return {"order": order, "result": result}


async def cancellation(ann, _bob, target):
    """Of what the server got, watch.mjs tells. The call is under way when it is cancelled."""
    under_way = asyncio.Event()

    async def reported(_done, _total, _message):
        under_way.set()

    arguments = {"duration": 30, "steps": 120, "mark": ann.mark}
    call, give_up = ann.client.start("trigger-long-running-operation", arguments, reported)
    await soon(under_way.wait(), "progress of the call")
    await give_up("enough of it")
    outcome = (await asyncio.gather(call, return_exceptions=True))[0]
    server = await cancelled(target["cancelled"], ann.mark)
    after = await ann.client.call("echo", {"message": "still here"})
    return {"threw": type(outcome).__name__, "server": server, "after": after}


async def the_other_client(_ann, bob, _target):
    """What Bob heard while Ann did all this."""
    return list(bob.heard)


async def sampling(ann, bob, _target):
    async def ask(person):
        return await person.client.call("trigger-sampling-request", {"prompt": f"a question of {person.mark}", "maxTokens": 50})

    return await together(ann, bob, "sampling/createMessage", ask)


async def elicitation(ann, bob, _target):
    async def ask(person):
        return await person.client.call("trigger-elicitation-request", {})

    accepted = await together(ann, bob, "elicitation/create", ask)
    ann.action = "decline"
    declined = await together(ann, bob, "elicitation/create", ask)
    ann.action = "accept"
    return {"accepted": accepted, "declined": declined}


async def elicitation_by_url(ann, bob, _target):
    async def open_it(person, **more):
        arguments = {"url": f"https://example.com/{person.mark}", "elicitationId": person.mark, **more}
        return await person.client.call("trigger-url-elicitation", arguments)

    opened = await together(ann, bob, "elicitation/create", open_it)
    return {"opened": opened, "required": await refusal(open_it(ann, errorPath=True))}


async def roots(ann, bob, _target):
    async def change(person):
        start = len(person.heard)
        person.roots = [*person.roots, {"uri": f"file:///srv/{person.mark}", "name": f"more of {person.mark}"}]
        await person.client.roots_changed()
        await person.until_logged("Roots updated: 2", start)
        return await person.client.call("get-roots-list", {})

    before = [await person.client.call("get-roots-list", {}) for person in (ann, bob)]
    return {"before": before, "changed": await together(ann, bob, "roots/list", change)}


FEATURES = {
    feature.__name__.replace("_", " ").replace("url", "URL"): feature
    for feature in (
        greeting, tools, prompts, resources, made_resources, completion, logging, subscriptions, progress, cancellation,
        the_other_client, sampling, elicitation, elicitation_by_url, roots,
    )
}


async def together(ann, bob, method, act):
    """Both do it at once, and each is asked before either answers."""
    start = [len(person.asked) for person in (ann, bob)]
    ann.meeting.expect(method)
    results = await asyncio.gather(act(ann), act(bob))
    ann.meeting.expect(None)
    return {"results": results, "asked": [person.asked[begin:] for person, begin in zip((ann, bob), start)]}


async def refusal(asking):
    try:
        return {"answered": await asking}
    except Exception as error:
        said = error.error  # both libraries: the code, the message and the data
        return {"code": said.code, "message": said.message, "data": said.data}


async def cancelled(file, mark):
    """The line that the server wrote about the call with this mark."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                if mark in line and line.endswith("}\n"):
                    return json.loads(line)
        await asyncio.sleep(0.05)
    raise RuntimeError("waited in vain: the server hears of the cancellation")
