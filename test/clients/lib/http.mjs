// What a client over HTTP must see beside what every client must.

import assert from "node:assert/strict";

import { check, eventually } from "./report.mjs";

// The options with which a transport keeps its HTTP requests in `seen`, once
// each has been answered.
export function recording() {
  const seen = [];
  async function recordingFetch(url, init) {
    const response = await fetch(url, init);
    const session = new Headers(init?.headers).get("mcp-session-id");
    seen.push({ method: init?.method ?? "GET", status: response.status, type: response.headers.get("content-type"), session });
    return response;
  }
  return { seen, options: { fetch: recordingFetch } };
}

// A client of the older era has a session, and reads what it says unasked. A
// DELETE ends it.
export async function checkSession({ transport, url, seen }) {
  const id = transport.sessionId;
  await check("the session has an id", () => assert.match(id, /^[\x21-\x7e]{20,}$/));
  await check("a GET in the session is answered with a stream", async () => {
    await eventually("the client's GET is answered", () => seen.some(({ method }) => method === "GET"));
    const { status, type, session } = seen.find(({ method }) => method === "GET");
    assert.deepEqual({ status, type, session }, { status: 200, type: "text/event-stream", session: id });
  });
  await check("the client can end the session, after which there is none", async () => {
    await transport.terminateSession();
    assert.equal(seen.at(-1).method, "DELETE");
    assert.equal(seen.at(-1).status, 204);
    assert.equal(await pingIn(url, id), 404);
  });
}

async function pingIn(url, session) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-session-id": session },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  await response.text();
  return response.status;
}

// One of the stateless era has none.
export async function checkNoSession({ transport, seen }) {
  await check("there is no session, and nothing is asked for but by POST", () => {
    assert.equal(transport.sessionId, undefined);
    assert.ok(seen.length > 0);
    assert.deepEqual(seen.filter(({ method, session }) => method !== "POST" || session !== null), []);
  });
}
