// Loaded before server-everything (node --import): writes down each cancellation as the server gets it. The server has no tool
// that says so, and a client cannot see it: a cancelled call has no answer.
//
// A line of JSON per notification goes to the file of EVERYTHING_CANCELLED: the arguments of the call, the reason, and
// whether the server was still at it.

import { appendFileSync } from "node:fs";
import { Protocol } from "@modelcontextprotocol/sdk/shared/protocol.js";

const { _onrequest: onRequest, _oncancel: onCancel } = Protocol.prototype;
const calls = new WeakMap();

Protocol.prototype._onrequest = function (request, extra) {
    if (!calls.has(this)) calls.set(this, new Map());
    calls.get(this).set(request.id, request.params?.arguments);
    return onRequest.call(this, request, extra);
};

Protocol.prototype._oncancel = function (notification) {
    const { requestId, reason } = notification.params;
    const running = this._requestHandlerAbortControllers.has(requestId);
    const line = JSON.stringify({ arguments: calls.get(this)?.get(requestId), reason, running });
    appendFileSync(process.env.EVERYTHING_CANCELLED, line + "\n");
    return onCancel.call(this, notification);
};
