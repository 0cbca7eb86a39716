'use strict';
// Units of the library and of the store on it, by what the program answers to messages that it is given at once;
// `stowplan drivers check` tries the rest.
const assert = require('node:assert');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');

const PROGRAM = path.join(__dirname, '..', 'stowplan-driver-node');
const LIBRARY = JSON.stringify(path.join(__dirname, '..', 'stowplan-driver.js'));
const BEGIN_MS = 300;
const LYING = `
const { Store, serve } = require(${LIBRARY});
class Lying extends Store {
  static kind = { name: 'lying' };
  read() { return Buffer.from('short'); }
  scan(key, most) { return Array(most + 1).fill(Buffer.alloc(0)); }
  remove() { return false; }
  begin() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${BEGIN_MS}); }
}
serve('lying', [Lying]);
`;

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'stowplan-driver-node-'));
after(() => fs.rmSync(work, { recursive: true }));

// The answers behind the greeting.
function told(messages, program = [PROGRAM]) {
  const input = messages.map((message) => `${JSON.stringify(message)}\n`).join('');
  const { stdout } = spawnSync(process.execPath, program, { input, encoding: 'utf8' });
  return stdout.trim().split('\n').slice(1).map((line) => JSON.parse(line));
}

// A block of equal steps: an action, of key 7, with the bytes or the values that it is to find.
function block(store, action, { size = 5, most = 3, times = 1, place = work, workload = { per_transaction: 1 }, ...fields } = {}) {
  const sequence = Buffer.alloc(16 + 16 * times);
  sequence.write('STOWSEQ1');
  sequence.writeUInt32LE(times, 8);
  for (let at = 16; at < sequence.length; at += 16) {
    sequence[at] = 7;
    sequence.writeUInt32LE(size, at + 8);
    sequence[at + 12] = action;
    sequence[at + 14] = most;
  }
  fs.writeFileSync(path.join(work, 'sequence'), sequence);
  const share = { sequence: path.join(work, 'sequence'), first: 0, lead_in: 0, operations: times, ...fields };
  return { run: { store, place, workload: { operation: 'read', ...workload }, threads: [share] } };
}

test('a store that lies fails its block, and several rows of a statement are refused', () => {
  const failed = (asked) => told([asked, 'go'], ['-e', LYING]).at(-1).failed.message;
  assert.match(failed(block('lying', 0, { size: 9 })), /value 7 has 5 bytes instead of 9/);
  assert.match(failed(block('lying', 5)), /visited 4 values instead of 1 to 3/);
  assert.match(failed(block('lying', 4)), /to be deleted/);
  assert.match(failed(block('lying', 0, { workload: { rows_per_statement: 10 } })), /inserts one row/);
});

test('what a transaction takes to begin belongs to the block and to no latency', () => {
  const latencies = path.join(work, 'latencies');
  const [, { measured }] = told([block('lying', 0, { times: 6, latencies, workload: { per_transaction: 2 } }), 'go'], ['-e', LYING]);
  const bytes = fs.readFileSync(latencies);
  const longest = Math.max(...new Uint32Array(bytes.buffer, bytes.byteOffset, 6));
  assert.ok(measured.wall_ns >= 3 * BEGIN_MS * 1e6 && longest < BEGIN_MS * 1e6, `${measured.wall_ns} ${longest}`);
});

test('settings come back as the engine tells them, and promise what the method says', () => {
  const promised = { 'journal=off': 'none', 'synchronous=off': 'process-crash', 'synchronous=normal': 'process-crash',
    'synchronous=full': 'consistent', 'synchronous=extra': 'durable', 'journal=wal,synchronous=full': 'durable',
    'journal=wal,synchronous=normal': 'consistent', 'journal=wal,page_size=8192': 'durable' };
  for (const [settings, kept] of Object.entries(promised)) {
    const store = `sqlite:${settings}`;
    const place = fs.mkdtempSync(path.join(work, 'store-'));
    const [{ described }, , { ready }] = told([{ describe: { store } }, { create: { store, place } }, block(store, 0, { place })]);
    for (const [name, word] of settings.split(',').map((pair) => pair.split('='))) {
      assert.strictEqual(String(ready.effective[name]), word);
    }
    assert.deepStrictEqual(described.kinds.map(({ name }) => name), ['sqlite', 'null']);
    assert.strictEqual(described.capabilities.durability.class, kept, settings);
  }
});
