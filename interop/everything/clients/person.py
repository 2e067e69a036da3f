"""One of two people who are connected at the same time. A person answers the server's questions with a mark of their own, and
remembers what they heard and what they were asked. person.mjs is the same in JavaScript."""

import asyncio

PATIENCE = 20


async def soon(waiting, what):
    """Nothing waits for ever."""
    try:
        return await asyncio.wait_for(waiting, PATIENCE)
    except asyncio.TimeoutError:
        raise RuntimeError(f"waited in vain: {what}") from None


class Meeting:
    """Where two questions of one kind wait for each other, so that both are open at the same time."""

    def __init__(self):
        self.expect(None)

    def expect(self, method):
        self._method, self._missing, self._met = method, 2, asyncio.Event()

    async def at(self, method):
        if method != self._method:
            return
        self._missing -= 1
        if self._missing == 0:
            self._met.set()
        await soon(self._met.wait(), f"both are asked {method}")


class Person:
    def __init__(self, mark, meeting):
        self.mark, self.meeting, self.action = mark, meeting, "accept"
        self.roots = [{"uri": f"file:///home/{mark}", "name": mark}]
        # Notifications and questions.
        self.heard, self.asked = [], []
        self._news = asyncio.Event()

    def hear(self, method, params):
        self.heard.append({"method": method, "params": params})
        self._news.set()

    async def until(self, found, what, start=0):
        """The first notification from this place on for which `found` holds."""
        while True:
            self._news.clear()
            for news in self.heard[start:]:
                if found(news["method"], news["params"]):
                    return news
            await soon(self._news.wait(), f"{self.mark} hears {what}")

    async def until_logged(self, text, start=0):
        return await self.until(lambda method, params: is_message(method) and text in str(params["data"]), text, start)

    async def answer(self, method, params):
        self.asked.append({"method": method, "params": params})
        await self.meeting.at(method)
        if method == "roots/list":
            return {"roots": self.roots}
        if method == "sampling/createMessage":
            content = {"type": "text", "text": f"sampled by {self.mark}"}
            return {"role": "assistant", "model": f"model of {self.mark}", "content": content, "stopReason": "endTurn"}
        if params.get("mode") == "url" or self.action != "accept":
            return {"action": self.action}
        filled_in = {"name": self.mark, "check": True, "integer": 7, "untitledMultipleSelectEnum": ["Bass"]}
        return {"action": "accept", "content": filled_in}


def is_message(method, _params=None):
    return method == "notifications/message"


def is_update(method):
    return method == "notifications/resources/updated"
