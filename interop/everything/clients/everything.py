"""Performs every feature with two connected people, for each target of a job (see interop/matrix/clients/job.py), and prints
one line of JSON per target: {"id", "said": {feature: what was observed, or {"failed"}}}."""

import asyncio
import contextlib
import json
import sys

from features import FEATURES
from person import Meeting, Person


def attend(connect):
    """`connect(target, person)` is a context that gives a client: see python1.py."""
    with open(sys.argv[1], encoding="utf-8") as file:
        targets = json.load(file)["targets"]

    async def all_of_them():
        for target in targets:
            report = {"id": target["id"], "said": {}}
            try:
                await one(target, report["said"], connect)
            except BaseException as error:
                # After the last feature it is the library that stumbles over messages which still come while it closes.
                report["error"] = repr(error)[:300]
            print(json.dumps(report), flush=True)

    asyncio.run(all_of_them())


async def one(target, said, connect):
    meeting = Meeting()
    people = [Person(f"{target['id']}-{name}", meeting) for name in ("ann", "bob")]
    async with contextlib.AsyncExitStack() as stack:
        for person in people:
            person.client = await stack.enter_async_context(connect(target, person))
        for name, feature in FEATURES.items():
            try:
                said[name] = await feature(*people, target)
            except Exception as error:
                said[name] = {"failed": repr(error)[:300]}


def plain(value):
    """What a library read, as JSON again."""
    return value.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Client:
    """What both libraries do the same way, over `session`, with answers as JSON."""

    def __init__(self, session, types, greeting):
        self.session, self._types, self.greeting = session, types, greeting

    def __getattr__(self, name):
        # list_tools, list_prompts, list_resources, list_resource_templates, get_prompt
        method = getattr(self.session, name)

        async def ask(*arguments):
            return plain(await method(*arguments))

        return ask

    async def ping(self):
        return plain(await self.session.send_ping())

    async def call(self, name, arguments, progress=None):
        return plain(await self.session.call_tool(name, arguments, progress_callback=progress))

    async def complete(self, ref, argument, context):
        kind = {"ref/prompt": "PromptReference", "ref/resource": "ResourceTemplateReference"}[ref["type"]]
        return plain(await self.session.complete(getattr(self._types, kind)(**ref), argument, context))

    async def set_level(self, level):
        await self.session.set_logging_level(level)

    async def subscribe(self, uri):
        await self.session.subscribe_resource(uri)

    async def unsubscribe(self, uri):
        await self.session.unsubscribe_resource(uri)

    async def roots_changed(self):
        await self.session.send_roots_list_changed()


def callbacks(person, types):
    """The arguments of both libraries that hear notifications and answer questions as this person."""
    async def hear(message):
        message = getattr(message, "root", message)
        if hasattr(message, "method") and not hasattr(message, "id"):
            person.hear(message.method, plain(message).get("params"))

    async def sample(_context, params):
        return types.CreateMessageResult.model_validate(await person.answer("sampling/createMessage", plain(params)))

    async def elicit(_context, params):
        return types.ElicitResult.model_validate(await person.answer("elicitation/create", plain(params)))

    async def roots(_context):
        return types.ListRootsResult.model_validate(await person.answer("roots/list", None))

    return {"message_handler": hear, "sampling_callback": sample, "elicitation_callback": elicit, "list_roots_callback": roots}
