// Tells the Go driver what was checked: one JSON object a line.

let failed = false;

function print(record) {
  process.stdout.write(`${JSON.stringify(record)}\n`);
}

// Runs one check and tells how it went. A later check may still succeed where
// this one did not.
export async function check(name, body) {
  try {
    await body();
    print({ check: name });
  } catch (error) {
    failed = true;
    print({ check: name, failure: error?.stack ?? String(error) });
  }
}

// The driver takes a script that never says this for one that was cut short.
export function finish() {
  print({ finished: true });
  process.exitCode = failed ? 1 : 0;
}

// Waits for what nothing announces.
export async function eventually(what, condition, milliseconds = 30_000) {
  const end = Date.now() + milliseconds;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${milliseconds} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
