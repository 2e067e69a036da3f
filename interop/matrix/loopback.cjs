// Some servers listen on every interface and take no option for it. Loaded before them, this keeps them at home.
const { Server } = require("node:net");
const listen = Server.prototype.listen;
Server.prototype.listen = function (where, ...rest) {
    if (typeof where === "object" && where !== null) return listen.call(this, { ...where, host: "127.0.0.1" }, ...rest);
    const callback = rest.find((value) => typeof value === "function");
    return listen.call(this, { port: Number(where), host: "127.0.0.1" }, callback);
};
