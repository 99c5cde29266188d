// What clients make of all that a server can offer and ask, with the fixture of
// test/conformance. Where a revision has no such thing, what they get instead.
//
// connect opens a session for a client that declares capabilities. It is one of
// lib/checks.mjs, and has besides: host, the revision, what the client has negotiated,
// and notFound, the code with which it tells of a resource that is not there.
// directory is that of the fixture.

import assert from "node:assert/strict";

import { checkClose } from "./checks.mjs";
import { checkAsking, checkNobodyIsAsked, checkRoots } from "./client-features.mjs";
import { everything } from "./host.mjs";
import { check } from "./report.mjs";
import { checkChanges, checkCompletion, checkLogging, checkPrompts, checkResources, checkResults } from "./server-features.mjs";

export async function checkFeatures(connect) {
  const session = await connect(everything);
  await check(`the session speaks ${session.revision}`, () => assert.equal(session.negotiated(), session.revision));
  await checkResults(session);
  await checkLogging(session);
  await checkAsking(session);
  await checkRoots(session);
  await checkResources(session);
  await checkPrompts(session);
  await checkCompletion(session);
  await checkChanges(session);
  await close(session);
  const silent = await connect({});
  await checkNobodyIsAsked(silent);
  await close(silent);
}

async function close(session) {
  if (session.url === undefined) await checkClose(session);
  else await check("the client can be closed", () => session.client.close());
}
