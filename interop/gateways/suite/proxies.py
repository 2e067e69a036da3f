"""nginx and HAProxy, with the configurations of deploy/ and the ports of this run."""

import re

from driver.gateway import free_port, wait_for_port


def with_ports(text, port, gateways, listen):
    """The configuration with these gateways. Every place must be there, so that it is the one that users have."""
    for number, gateway in enumerate(gateways, 1):
        text, count = re.subn(rf"\bgateway-{number}:8080\b", f"127.0.0.1:{gateway.port}", text)
        if count != 1:
            raise RuntimeError(f"gateway-{number}:8080 is {count} times in the configuration")
    if listen not in text:
        raise RuntimeError(f"{listen!r} is not in the configuration")
    return text.replace(listen, listen.replace("8080", f"127.0.0.1:{port}").replace(":127", "127"))


def nginx(processes, folder, snippets, gateways):
    port = free_port()
    site = folder / "nginx-site.conf"
    site.write_text(with_ports((snippets / "nginx.conf").read_text(), port, gateways, "listen 8080;"))
    paths = "".join(f"{kind}_temp_path {folder}/nginx-{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    main = folder / "nginx.conf"
    main.write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log;\n"
        f"events {{ worker_connections 512; }}\nhttp {{ access_log off; {paths} include {site}; }}\n"
    )
    processes.start("nginx", ["nginx", "-c", str(main), "-e", f"{folder}/nginx-error.log"])
    wait_for_port(port)
    return port


def haproxy(processes, folder, snippets, gateways):
    port = free_port()
    config = folder / "haproxy.cfg"
    config.write_text(with_ports((snippets / "haproxy.cfg").read_text(), port, gateways, "bind :8080"))
    processes.start("haproxy", ["haproxy", "-db", "-f", str(config)])
    wait_for_port(port)
    return port
