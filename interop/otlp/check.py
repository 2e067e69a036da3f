"""Two chained gateways, a collector behind them, and what comes out of it. See `run`."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
LINK = "00-11111111111111111111111111111111-2222222222222222-01"
BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]
ARGUMENT = "argument-that-must-not-leave"
# Far longer than anything takes; reached only when the check fails.
WAIT = 120


class Receiver(BaseHTTPRequestHandler):
    """Reads exports with the official types."""

    spans, metrics, logs, bodies, resources = [], {}, [], [], []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            import gzip

            body = gzip.decompress(body)
        Receiver.bodies.append(body)
        match self.path:
            case "/v1/traces":
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    Receiver.resources.append(attributes(resource.resource))
                    for scope in resource.scope_spans:
                        Receiver.spans.extend(scope.spans)
            case "/v1/metrics":
                for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                    for scope in resource.scope_metrics:
                        for metric in scope.metrics:
                            Receiver.metrics.setdefault(metric.name, []).append(metric)
            case "/v1/logs":
                for resource in ExportLogsServiceRequest.FromString(body).resource_logs:
                    for scope in resource.scope_logs:
                        Receiver.logs.extend(scope.log_records)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def attributes(of):
    return {pair.key: pair.value.string_value for pair in of.attributes}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def until(what, is_so):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if found := is_so():
                return found
        time.sleep(0.05)
    raise SystemExit(f"waited in vain: {what}")


def fetch(port, path, key, body=None, headers=()):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body)
    request.add_header("X-API-Key", key)
    request.add_header("Content-Type", "application/json")
    request.add_header("Accept", "application/json, text/event-stream")
    for name, value in headers:
        request.add_header(name, value)
    with urllib.request.urlopen(request, timeout=WAIT) as answer:
        return answer.read().decode()


class Processes(contextlib.ExitStack):
    def start(self, name, command, **options):
        log = open(os.path.join(self.folder, f"{name}.log"), "w")
        process = subprocess.Popen(command, stdout=log, stderr=log, **options)
        self.callback(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def gateway(processes, name, program, port, servers, endpoint, key, extra=()):
    """A gateway from a configuration file; the collector is named by OpenTelemetry's own variables."""
    folder = os.path.join(processes.folder, name)
    os.makedirs(folder)
    config = os.path.join(folder, "mcp_config.json")
    with open(config, "w") as file:
        settings = {
            "listen": f"127.0.0.1:{port}",
            "api_key": key,
            "admin_key": f"admin-{key}",
            "data_dir": folder,
            "output_validation": {"mode": "strict"},
            "mcpServers": servers,
        }
        json.dump(settings, file)
    os.chmod(config, 0o600)
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_HEADERS": "x-checked=yes",
        "OTEL_SERVICE_NAME": name,
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=interop",
    }
    command = [program, "serve", *extra, "--config", config]
    process = processes.start(name, command, env=environment)
    until(f"{name} is ready", lambda: fetch(port, "/readyz", key))
    return process


def call(port, path, key, tool, meta=None, headers=()):
    params = {"name": tool, "arguments": {"x": ARGUMENT}}
    if meta:
        params["_meta"] = meta
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    answer = fetch(port, path, key, json.dumps(message).encode(), headers)
    for line in answer.splitlines():
        if line.startswith("data:"):
            answer = line[5:]
    return json.loads(answer)


def check_spans(spans):
    traced = [span for span in spans if span.trace_id.hex() == TRACE]
    assert len(traced) == 4, [span.name for span in traced]
    parent, kinds = bytes.fromhex(SPAN), []
    while children := [span for span in traced if span.parent_span_id == parent]:
        (span,) = children
        kinds.append(span.kind)
        found = attributes(span)
        assert span.name == "tools/call conforming", span.name
        assert found["mcp.method.name"] == "tools/call"
        assert found["gen_ai.tool.name"] == "conforming"
        assert found["gen_ai.operation.name"] == "execute_tool"
        assert "jsonrpc.request.id" in found
        # The server is not told who called, and the next gateway knows the one before by its key.
        assert found.get("enduser.id") == ("key:client" if span.kind == Span.SPAN_KIND_SERVER else None), found
        links = [(link.trace_id.hex(), link.span_id.hex()) for link in span.links]
        assert links == ([("1" * 32, "2" * 16)] if len(kinds) == 1 else []), links
        parent = span.span_id
    assert kinds == [Span.SPAN_KIND_SERVER, Span.SPAN_KIND_CLIENT] * 2, kinds
    transports = [attributes(span)["network.transport"] for span in traced]
    assert sorted(transports) == ["pipe", "tcp", "tcp", "tcp"], transports


def check_metrics(metrics):
    for name in ("mcp.server.operation.duration", "mcp.client.operation.duration"):
        points = [point for metric in metrics[name] for point in metric.histogram.data_points]
        assert points and all(list(point.explicit_bounds) == BOUNDS for point in points)
        assert all(metric.unit == "s" for metric in metrics[name])
        assert all(sum(point.bucket_counts) == point.count for point in points)
    assert "countersign.decisions" in metrics


def check_logs(logs, spans):
    blocked = [log for log in logs if attributes(log)["countersign.decision"] == "blocked"]
    assert blocked, "no decision left"
    named = {span.span_id: span.name for span in spans}
    assert any(named.get(log.span_id) == "tools/call bad_output" for log in blocked)
    assert all(log.event_name == "countersign.decision" for log in blocked)
    assert all(attributes(log)["enduser.id"] == "key:client" for log in blocked)


def check_page(page):
    """promtool reads /metrics, if it is there."""
    if promtool := shutil.which("promtool"):
        checked = subprocess.run([promtool, "check", "metrics"], input=page, text=True, capture_output=True)
        print(checked.stdout + checked.stderr, end="")
        assert checked.returncode == 0, "promtool refuses /metrics"
    else:
        print("promtool is not installed: /metrics was not checked")


def main(program, collector_program):
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    with Processes() as processes, tempfile.TemporaryDirectory() as folder:
        processes.folder = folder
        otlp, grpc, inner, outer = (free_port() for _ in range(4))
        command = [collector_program, "start", "--otlp-http-endpoint", f"127.0.0.1:{otlp}"]
        command += ["--otlp-grpc-endpoint", f"127.0.0.1:{grpc}", "--exporter", "otlp", "--batch-timeout", "200ms"]
        command += ["--otlp-exporter-endpoint", f"http://127.0.0.1:{receiver.server_port}"]
        command += ["--otlp-exporter-protocol", "http", "--pid-file", f"{folder}/pid", "--log-file", f"{folder}/log"]
        collector = processes.start("collector", command)
        until("the collector listens", lambda: socket.create_connection(("127.0.0.1", otlp), 1))
        endpoint = f"http://127.0.0.1:{otlp}"
        keys = {"inner": "inner-key-of-the-check", "outer": "outer-key-of-the-check"}
        started = [
            gateway(processes, "inner", program, inner, {}, endpoint, keys["inner"], ["--demo"]),
        ]
        until("the demo has tools", lambda: "result" in call(inner, "/mcp/s/stub", keys["inner"], "conforming"))
        chained = {"url": f"http://127.0.0.1:{inner}/mcp/s/stub", "headers": {"X-API-Key": keys["inner"]}}
        started.append(gateway(processes, "outer", program, outer, {"next": chained}, endpoint, keys["outer"]))
        path, key = "/mcp/s/next", keys["outer"]
        until("the chain has tools", lambda: "result" in call(outer, path, key, "conforming"))

        meta = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "a=b", "baggage": "k=v"}
        answer = call(outer, path, key, "conforming", meta, [("traceparent", LINK)])
        assert "result" in answer, answer
        assert call(outer, path, key, "bad_output")["result"]["isError"]
        check_page(fetch(outer, "/metrics", key))
        for process in reversed(started):
            processes.end(process)
        until("all spans", lambda: len([s for s in Receiver.spans if s.trace_id.hex() == TRACE]) >= 4)
        until("metrics", lambda: len(Receiver.metrics.get("mcp.server.operation.duration", [])) >= 2)
        until("logs", lambda: len(Receiver.logs) >= 1)
        check_spans(Receiver.spans)
        check_metrics(Receiver.metrics)
        check_logs(Receiver.logs, Receiver.spans)
        names = {resource["service.name"] for resource in Receiver.resources}
        assert names == {"inner", "outer"}, names
        assert all(resource["deployment.environment.name"] == "interop" for resource in Receiver.resources)
        assert not any(ARGUMENT.encode() in body for body in Receiver.bodies), "an argument left"
        print(f"{len(Receiver.spans)} spans, {len(Receiver.logs)} log records, metrics {sorted(Receiver.metrics)}")

        processes.end(collector)
        alone = free_port()
        lonely = gateway(processes, "alone", program, alone, {}, endpoint, keys["inner"], ["--demo"])
        until("the demo has tools", lambda: "result" in call(alone, "/mcp/s/stub", keys["inner"], "conforming"))
        for _ in range(100):
            assert "result" in call(alone, "/mcp/s/stub", keys["inner"], "conforming")
        page = until(
            "a failed export",
            lambda: (page := fetch(alone, "/metrics", keys["inner"]))
            and 'otlp_failures_total{signal="traces"} 0' not in page
            and page,
        )
        assert 'countersign_otlp_exported_total{signal="traces"} 0' in page
        processes.end(lonely)
        assert lonely.returncode == 0, lonely.returncode
        print("without the collector every call was answered, and the gateway stopped in good order")


main(*sys.argv[1:])
