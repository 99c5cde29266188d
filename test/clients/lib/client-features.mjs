// What a server asks of its client in the middle of a call.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { check, eventually } from "./report.mjs";

const elicitationSince = "2025-06-18";
const newFormsSince = "2025-11-25"; // with lists; and pages that a user is sent to
const stateless = "2026-07-28";

const elicit = "elicitation/create";
const sample = "sampling/createMessage";

// What a script gets to read instead of an answer.
const notAsked = (why) => `conch: the client cannot be asked this: ${why}`;
const noForms = "its revision of the protocol has no elicitation";

const accept = (content) => ({ action: "accept", content });

const textOf = ({ content }) => content.map(({ text }) => text).join("\n");

// What stands behind the colon that the fixture writes before an answer.
const answerIn = (result) => JSON.parse(textOf(result).replace(/^[^{]*: /, ""));

export async function checkAsking(session) {
  const { revision } = session;
  if (revision >= elicitationSince) await checkForms(session);
  else await checkNotAsked(session, noForms, "test_elicitation", { message: "Who?" });
  if (revision >= newFormsSince) await checkPages(session);
  else await checkNotAsked(session, `${noForms}\\.url`, "sign_in");
  await checkProgress(session);
  await checkSampling(session);
  await checkTogether(session);
}

const forms = {
  test_elicitation_sep1034_defaults: {
    form: {
      name: { type: "string", description: "User name", default: "John Doe" },
      age: { type: "integer", description: "User age", default: 30 },
      score: { type: "number", description: "User score", default: 95.5 },
      status: { type: "string", description: "User status", enum: ["active", "inactive", "pending"], default: "active" },
      verified: { type: "boolean", description: "Verification status", default: true },
    },
    content: { name: "Žofie „😀“ \"\\", age: 7, score: -0.5, status: "pending", verified: false },
  },
  test_elicitation_sep1330_enums: {
    form: {
      untitledSingle: { type: "string", description: "Select one option", enum: ["option1", "option2", "option3"] },
      titledSingle: {
        type: "string",
        description: "Select one option with titles",
        oneOf: [
          { const: "value1", title: "First Option" },
          { const: "value2", title: "Second Option" },
          { const: "value3", title: "Third Option" },
        ],
      },
      legacyEnum: {
        type: "string",
        description: "Select one option (legacy)",
        enum: ["opt1", "opt2", "opt3"],
        enumNames: ["Option One", "Option Two", "Option Three"],
      },
      untitledMulti: {
        type: "array",
        description: "Select multiple options",
        minItems: 1,
        maxItems: 3,
        items: { type: "string", enum: ["option1", "option2", "option3"] },
      },
      titledMulti: {
        type: "array",
        description: "Select multiple options with titles",
        minItems: 1,
        maxItems: 3,
        items: {
          anyOf: [
            { const: "value1", title: "First Choice" },
            { const: "value2", title: "Second Choice" },
            { const: "value3", title: "Third Choice" },
          ],
        },
      },
    },
    content: { titledSingle: "value2", legacyEnum: "opt3", untitledMulti: ["option1", "option3"], titledMulti: ["value1"] },
  },
};

async function checkForms(session) {
  const { call, client, host, revision } = session;
  for (const [name, { form, content }] of Object.entries(forms)) {
    if (revision < newFormsSince && Object.values(form).some(({ type }) => type === "array")) {
      await checkNotAsked(session, "in its revision of the protocol, nobody can choose several things", name);
      continue;
    }
    await check(`the form of ${name} reaches the user as the script has it, and his answer the script`, async () => {
      host.answers[elicit] = accept(content);
      const { result, params } = await host.askedDuring(elicit, () => call({ name, arguments: {} }));
      assert.equal(params.length, 1);
      assert.deepEqual(params[0].requestedSchema.properties, form);
      assert.deepEqual(answerIn(result), accept(content));
    });
  }
  await check("titles of choices are where the revision has them", async () => {
    host.answers[elicit] = accept({ value: "b" });
    const { result, params } = await host.askedDuring(elicit, () => call({ name: "choose", arguments: {} }));
    const beside = { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "b", title: "Blue" }] };
    const apart = { type: "string", enum: ["r", "b"], enumNames: ["Red", "Blue"] };
    assert.deepEqual(params[0].requestedSchema.properties, { value: revision < newFormsSince ? apart : beside });
    assert.deepEqual(JSON.parse(textOf(result)), accept({ value: "b" }));
  });
  for (const answer of [accept({ username: "ada", email: "ada@example.org" }), { action: "decline" }, { action: "cancel" }]) {
    await check(`the script learns of ${answer.action}`, async () => {
      host.answers[elicit] = answer;
      const message = 'Who "are" you?';
      const { result, params } = await host.askedDuring(elicit, () => call({ name: "test_elicitation", arguments: { message } }));
      assert.deepEqual(params.map((asked) => asked.message), [message]);
      assert.deepEqual(answerIn(result), answer);
    });
  }
  await check("a user whose answer is not what the form asks for is asked again", async () => {
    const answers = [accept({ name: 7 }), accept({ name: "Ada" })];
    host.answers[elicit] = () => answers.shift();
    const { result, params } = await host.askedDuring(elicit, () => call({ name: "test_input_required_result_elicitation", arguments: {} }));
    assert.equal(params.length, 2);
    assert.deepEqual(answerIn(result), accept({ name: "Ada" }));
  });
  await check("a call may ask one thing after the other", async () => {
    host.answers[elicit] = ({ message }) => accept(/name/.test(message) ? { name: "Ada" } : { color: "red" });
    const { result, params } = await host.askedDuring(elicit, () => call({ name: "test_input_required_result_multi_round", arguments: {} }));
    assert.deepEqual(params.map(({ message }) => message), ["Step 1: What is your name?", "Step 2: What is your favorite color?"]);
    assert.equal(textOf(result), `${JSON.stringify(accept({ name: "Ada" }))}\n${JSON.stringify(accept({ color: "red" }))}\nAll steps are done.`);
  });
  await check("a prompt may ask before it is made", async () => {
    host.answers[elicit] = accept({ context: "tea" });
    const { result } = await host.askedDuring(elicit, () => client.getPrompt({ name: "test_input_required_result_prompt" }));
    assert.deepEqual(answerIn({ content: result.messages.map(({ content }) => content) }), accept({ context: "tea" }));
  });
}

// The client declares it all the same, since it cannot know yet what will be
// spoken.
async function checkNotAsked({ call, host }, why, name, args = {}) {
  await check(`${name} asks nobody whose revision cannot be asked that, and learns of it`, async () => {
    const { result, params } = await host.askedDuring(elicit, () => call({ name, arguments: args }));
    assert.deepEqual(params, []);
    assert.match(textOf(result), new RegExp(`^${notAsked(why)}\n[^:]+: $`));
  });
}

async function checkPages({ call, host }) {
  await check("a user is sent to a page, and the script learns that he has agreed", async () => {
    host.answers[elicit] = { action: "accept" };
    const { result, params } = await host.askedDuring(elicit, () => call({ name: "sign_in", arguments: {} }));
    assert.equal(params.length, 1);
    const { mode, message, url } = params[0];
    assert.deepEqual({ mode, message, url }, { mode: "url", message: "Please sign in", url: "https://example.org/sign-in?a=b&c" });
    assert.deepEqual(answerIn(result), { action: "accept" });
  });
}

async function checkProgress({ call, host, revision, directory }) {
  await check("a call tells how far it is, before it asks and afterwards", async () => {
    const heard = join(directory, "heard");
    const told = [];
    const onprogress = (progress) => {
      // A client may tell itself of rounds, which have no end.
      if (progress.total === undefined) return;
      told.push(progress);
      writeFileSync(`${heard}.${progress.progress}`, "");
    };
    host.answers[elicit] = accept({ confirmed: true });
    const result = await call({ name: "steps", arguments: { heard } }, { onprogress });
    assert.equal(textOf(result), revision < elicitationSince ? notAsked(noForms) : JSON.stringify(accept({ confirmed: true })));
    assert.deepEqual(told, [
      { progress: 1, total: 2, message: "One step" },
      { progress: 2, total: 2, message: "Another step" },
    ]);
  });
}

const says = (text) => ({ role: "assistant", model: "parrot", stopReason: "endTurn", content: { type: "text", text } });

async function checkSampling({ call, host, revision }) {
  const prompt = 'Say "hi"\nin Czech';
  await check("a prompt reaches the client's model, and its answer the script", async () => {
    host.answers[sample] = says('"Ahoj"\n„😀“');
    const { result, params } = await host.askedDuring(sample, () => call({ name: "test_sampling", arguments: { prompt } }));
    const [{ messages, maxTokens }] = params;
    assert.deepEqual({ messages, maxTokens }, { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens: 100 });
    assert.equal(textOf(result), 'LLM response: "Ahoj"\n„😀“');
  });
  host.answers[sample] = () => {
    throw new Error("the user would not have it");
  };
  // In the stateless era a client that refuses does not come back.
  if (revision >= stateless) {
    await check("a client that refuses ends its call", () =>
      assert.rejects(call({ name: "test_sampling", arguments: { prompt } }), /the user would not have it/));
    return;
  }
  await check("the script learns that a client refuses", async () => {
    const result = await call({ name: "test_sampling", arguments: { prompt } });
    assert.match(textOf(result), /^conch: the client refused: .*the user would not have it\nLLM response: $/);
  });
}

async function checkTogether({ call, host, revision }) {
  await check("what a call asks at once is answered each by itself", async () => {
    const forms = revision >= elicitationSince;
    host.answers[elicit] = accept({ name: "Ada" });
    host.answers[sample] = says("Good day");
    const before = host.asked.length;
    const result = await call({ name: "test_input_required_result_multiple_inputs", arguments: {} });
    const asked = host.asked.slice(before).map(({ method }) => method);
    assert.deepEqual(asked.sort(), [...(forms ? [elicit] : []), "roots/list", sample].sort());
    const lines = textOf(result).split("\n").sort();
    const want = ["Good day", JSON.stringify({ roots: host.roots })];
    want.push(forms ? JSON.stringify(accept({ name: "Ada" })) : notAsked(noForms));
    assert.deepEqual(lines, want.sort());
  });
}

export async function checkRoots({ call, client, host, revision, directory }) {
  const inScope = async () => {
    const [paths, json] = textOf(await call({ name: "roots", arguments: {} })).split("\n\n");
    return { paths: paths.split("\n"), uris: JSON.parse(json).map(({ uri }) => uri) };
  };
  const paths = (names) => names.map((name) => join(directory, name));
  // There the variables are those of the server's side; the function asks.
  const uris = () => (revision < stateless ? host.roots : [{ uri: pathToFileURL(directory).href }]).map(({ uri }) => uri);
  await check("a call is told of the client's roots", async () => {
    assert.deepEqual(await inScope(), { paths: paths(["project"]), uris: uris() });
    const result = await call({ name: "test_input_required_result_list_roots", arguments: {} });
    assert.deepEqual(answerIn(result), { roots: host.roots });
  });
  await check("a call is told of the roots that the client has by now", async () => {
    host.addRoot("other project");
    if (revision < stateless) {
      const before = host.asked.length;
      await client.sendRootsListChanged();
      await eventually("the client is asked again", () => host.asked.length > before);
    }
    await eventually("there are two roots", async () => (await inScope()).paths.length === 2);
    assert.deepEqual(await inScope(), { paths: paths(["project", "other project"]), uris: uris() });
  });
}

export async function checkNobodyIsAsked({ call, directory, revision }) {
  await check("a client that declares nothing is asked nothing", async () => {
    const result = await call({ name: "test_elicitation", arguments: { message: "Who?" } });
    const why = revision < elicitationSince ? noForms : "it declares no elicitation";
    assert.equal(textOf(result), `${notAsked(why)}\nUser response: `);
    assert.equal(textOf(await call({ name: "test_input_required_result_capabilities", arguments: {} })), "The client cannot be asked.");
  });
  await check("a tool that needs what a client does not declare is refused", async () => {
    await assert.rejects(call({ name: "test_missing_capability", arguments: {} }), (error) => {
      assert.equal(error.code, revision < stateless ? -32600 : -32021);
      assert.deepEqual(error.data, { requiredCapabilities: { sampling: {} } });
      return true;
    });
  });
  await check("a client without roots has those of the server's side", async () => {
    const [paths, json] = textOf(await call({ name: "roots", arguments: {} })).split("\n\n");
    assert.equal(paths, directory);
    assert.deepEqual(JSON.parse(json).map(({ path }) => path), [directory]);
  });
}
