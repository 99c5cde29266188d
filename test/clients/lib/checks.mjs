// What every client must be able to do with a server of conch's, whatever the
// client and the protocol revision.
//
// A session is { client, call, transport, legacy, directory, dropIn, url, seen }:
// a connected client, its tools/call as a function of parameters and options, its
// transport, whether the older era is spoken, a directory for files, and whether
// the server has the drop-in file. Over HTTP there are the endpoint and the
// requests that it has answered as well.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { checkNoSession, checkSession } from "./http.mjs";
import { check, eventually } from "./report.mjs";

export async function runChecks(session) {
  await checkIntroduction(session);
  await checkCalls(session);
  await checkCancellation(session);
  if (session.legacy) await checkLegacyMethods(session);
  if (session.url === undefined) await checkClose(session);
  else await checkHTTP(session);
}

async function checkIntroduction({ client }) {
  await check("the server introduces itself", () => {
    const { name, title, version } = client.getServerVersion();
    assert.deepEqual({ name, title, version }, { name: "clients-fixture", title: "Fixture for clients", version: "3.2.1" });
  });
  await check("the client gets the instructions", () => {
    assert.equal(client.getInstructions(), "Greet first, then ask.");
  });
  await check("the tools are listed in the order of the file", async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), ["greet", "fail", "echo", "linger"]);
    assert.equal(tools[0].description, "Greets somebody by name.");
    assert.deepEqual(tools[0].inputSchema.required, ["name"]);
  });
}

function onlyText(result) {
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, "text");
  return result.content[0].text;
}

async function checkCalls({ call, dropIn }) {
  await check("a tool answers with what it printed", async () => {
    const result = await call({ name: "greet", arguments: { name: "Ada" } });
    assert.equal(onlyText(result), "Hello, Ada!");
    assert.ok(!result.isError);
  });
  await check("text beyond ASCII survives both ways", async () => {
    const result = await call({ name: "greet", arguments: { name: "Žofie\t„😀“\n<&>" } });
    assert.equal(onlyText(result), "Hello, Žofie\t„😀“\n<&>!");
  });
  await check("a failing tool is a result with isError", async () => {
    const result = await call({ name: "fail", arguments: {} });
    assert.equal(result.isError, true);
    assert.match(onlyText(result), /^Error executing fail: the projector is broken$/);
  });
  await check("a call without arguments is one with none", async () => {
    const result = await call({ name: "echo" });
    assert.equal(onlyText(result), "{}");
  });
  await check("invalid arguments are a result that names them", async () => {
    const result = await call({ name: "greet", arguments: { name: 7 } });
    assert.equal(result.isError, true);
    assert.match(onlyText(result), /name/);
  });
  await check("an unknown tool is an error of the protocol", async () => {
    await assert.rejects(call({ name: "nonsense", arguments: {} }), (error) => {
      // Scripts' users know the drop-in file's answer from that framework.
      assert.equal(error.code, dropIn ? -32601 : -32602);
      assert.match(error.message, dropIn ? /Tool not found: nonsense/ : /unknown tool "nonsense"/);
      return true;
    });
  });
  await check("twenty calls at once get each its own answer", async () => {
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const results = await Promise.all(numbers.map((n) => call({ name: "echo", arguments: { n } })));
    assert.deepEqual(results.map((result) => JSON.parse(onlyText(result)).n), numbers);
  });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function checkCancellation({ call, directory }) {
  await check("an aborted call's process ends, and the next call is served", async () => {
    const pidfile = join(directory, "linger.pid");
    const abort = new AbortController();
    const aborted = assert.rejects(call({ name: "linger", arguments: { pidfile } }, { signal: abort.signal }), /enough/);
    await eventually("the tool has started", () => existsSync(pidfile));
    const pid = Number(readFileSync(pidfile, "utf8"));
    assert.ok(isAlive(pid), `the tool's process ${pid} is alive before the abort`);
    abort.abort(new Error("enough"));
    await aborted;
    await eventually(`process ${pid} is gone`, () => !isAlive(pid));
    assert.equal(onlyText(await call({ name: "greet", arguments: { name: "again" } })), "Hello, again!");
  });
}

async function checkLegacyMethods({ client, dropIn }) {
  await check("ping is answered", async () => {
    assert.deepEqual(await client.ping(), {});
  });
  // That framework's servers send no log messages.
  if (dropIn) return;
  await check("the logging level can be set", async () => {
    assert.deepEqual(await client.setLoggingLevel("debug"), {});
  });
}

async function checkHTTP(session) {
  await (session.legacy ? checkSession(session) : checkNoSession(session));
  await check("the client can be closed", () => session.client.close());
}

export async function checkClose({ client, transport }) {
  await check("a closed client leaves a server that exits with status 0", async () => {
    // No public member tells how the server ended.
    const child = transport._process;
    const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
    await client.close();
    assert.deepEqual(await exited, { code: 0, signal: null });
  });
}
