// A gateway for the SDKs, started as tests/clients/scene.py does it for the Python suites.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const OF_THE_CHECKOUT = path('../../../.venv/bin/python');

/** One pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** Starts a gateway. `busy()` names a backend that is rate-limited and that nobody has asked yet. */
export async function startGateway() {
  const python =
    process.env.HYBRIDGE_PYTHON || (existsSync(OF_THE_CHECKOUT) ? OF_THE_CHECKOUT : 'python3');
  const scene = spawn(python, [path('../scene.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => scene.on('exit', resolve));
  const { value } = await createInterface({ input: scene.stdout })[Symbol.asyncIterator]().next();
  if (!value) throw new Error(`no gateway: ${python} ended with ${await ended}`);
  const { url, key } = JSON.parse(value);
  let number = 0;
  return {
    url,
    key,
    busy: () => `busy-${number++}`,
    /** Rejects when the gateway's log holds a traceback. */
    async stop() {
      scene.stdin.end();
      const code = await ended;
      if (code !== 0) throw new Error(`the gateway's log tells of a fault (exit code ${code})`);
    },
  };
}

/** All items of an async iterable. */
export async function all(iterable) {
  const items = [];
  for await (const item of iterable) items.push(item);
  return items;
}
