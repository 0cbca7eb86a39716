'use strict';
// What the driver does with its stores, by the protocol alone: npm test.
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, describe, test } = require('node:test');
const { Driver, range, value } = require('./parent.js');

const COUNT = 1100; // More than are loaded at once.
const STORES = ['sqlite', 'sqlite:synchronous=off,statement=each', 'sqlite:journal=wal,page_size=1024', 'sqlite:journal=off'];
const BEGIN_MS = 300;
const LYING = `
const { Store, serve } = require(${JSON.stringify(path.join(__dirname, '..', 'stowplan-driver.js'))});
class Lying extends Store {
  static kind = { name: 'lying' };
  read() { return Buffer.from('short'); }
  scan(key, most) { return Array(most + 1).fill(Buffer.alloc(0)); }
  overwrite() { return false; }
  remove() { return false; }
  begin() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${BEGIN_MS}); }
}
serve('lying', [Lying]);
`;

let directory;
before(() => { directory = fs.mkdtempSync(path.join(os.tmpdir(), 'stowplan-driver-node-')); });
after(() => fs.rmSync(directory, { recursive: true }));

// Runs a test on a new store of each kind, which holds COUNT values.
function ofEach(name, does) {
  for (const store of STORES) {
    test(`${name} (${store})`, async () => {
      const work = fs.mkdtempSync(path.join(directory, 'work-'));
      const place = path.join(work, 'store');
      fs.mkdirSync(place);
      await Driver.with(store, place, (driver) => driver.build(work, COUNT));
      await does((then) => Driver.with(store, place, then), work);
    });
  }
}

const loaded = () => new Map(range(1, COUNT).map((key) => [key, value(key)]));
const steps = (action, keys, fields = {}) => keys.map((key) => ({ action, key, ...fields }));

describe('each store', () => {
  ofEach('what was loaded is there for another process and nothing else', async (open, work) => {
    const found = await open((driver) => driver.dump(work, range(1, COUNT + 1)));
    assert.deepStrictEqual(found, loaded().set(COUNT + 1, undefined));
  });

  ofEach('a mix leaves what its steps say, in transactions of each size', async (open, work) => {
    const expected = loaded();
    let version = 0;
    for (const perTransaction of [1, 7, 'all']) {
      version += 1;
      const first = 100 * version;
      const added = range(COUNT + first, COUNT + first + 8);
      const mix = [
        ...steps('overwrite', range(first, first + 20), { version }),
        ...steps('modify', range(first + 10, first + 30), { version }),
        ...steps('delete', range(first + 40, first + 50)),
        ...steps('insert', added, { version }),
        ...steps('read', range(1, 20)),
      ];
      await open(async (driver) => {
        const measured = await driver.run(work, 'mix', mix, { perTransaction, leadIn: 3 });
        assert.ok(measured.wall_ns > 0);
        assert.strictEqual(await driver.ask('rest', { checkpoint: true }), 'done');
        for (const key of [...range(first, first + 30), ...added]) expected.set(key, value(key, version));
        for (const key of range(first + 40, first + 50)) expected.set(key, undefined);
        assert.deepStrictEqual(await driver.dump(work, [...expected.keys()]), expected);
      });
    }
  });

  ofEach('scans tell the bytes of what they visited', async (open, work) => {
    const scans = steps('scan', [1, 200, COUNT - 1], { size: 0, most: 5 });
    const { bytes } = await open((driver) => driver.run(work, 'scan', scans, { perTransaction: 'all', leadIn: 1 }));
    const visited = [...range(200, 204), COUNT - 1, COUNT];
    assert.strictEqual(bytes, visited.reduce((sum, key) => sum + value(key).length, 0));
  });

  ofEach('of a mix the bytes of scans alone are told', async (open, work) => {
    const mix = [...steps('read', [1, 2]), ...steps('scan', [200], { size: 0, most: 5 }), ...steps('overwrite', [3], { version: 1 })];
    const { bytes } = await open((driver) => driver.run(work, 'mix', mix));
    assert.strictEqual(bytes, range(200, 204).reduce((sum, key) => sum + value(key).length, 0));
    const read = await open((driver) => driver.run(work, 'read', steps('read', [1, 2])));
    assert.strictEqual(read.bytes, 0);
  });

  ofEach('each operation has one latency, and together they are not longer than the block', async (open, work) => {
    for (const perTransaction of [1, 4, 'all']) {
      const latencies = path.join(work, 'latencies');
      const reads = steps('read', range(1, 100));
      const { wall_ns: wall } = await open((driver) => driver.run(work, 'read', reads, { perTransaction, leadIn: 10, latencies }));
      const bytes = fs.readFileSync(latencies);
      const told = range(0, 89).map((n) => bytes.readUInt32LE(4 * n));
      assert.strictEqual(bytes.length, 4 * 90);
      assert.ok(told.every((ns) => ns > 0));
      assert.ok(told.reduce((sum, ns) => sum + ns) <= wall);
    }
  });

  ofEach('a block that does not find what it should fails', async (open, work) => {
    const wrong = [
      [/value 1 has/, { action: 'read', key: 1, size: value(1).length + 1 }],
      [/value 9999 is missing/, { action: 'read', key: 9999 }],
      [/to be overwritten/, { action: 'overwrite', key: 9999 }],
      [/to be deleted/, { action: 'delete', key: 9999 }],
      [/value 9998 is missing/, { action: 'modify', key: 9998 }],
      [/visited 0 values/, { action: 'scan', key: 9999, most: 5 }],
      [/UNIQUE/, { action: 'insert', key: 1 }],
    ];
    for (const [words, step] of wrong) {
      await assert.rejects(open((driver) => driver.run(work, 'mix', [step], { perTransaction: 'all' })), words);
    }
  });
});

test('a place without a store is said in words', async () => {
  const asked = Driver.with('sqlite', '/nowhere/at/all', (driver) => driver.dump(directory, [1]));
  await assert.rejects(asked, /^Error: there is no database \/nowhere\/at\/all/);
});

test('settings come back as the engine tells them, and promise what the method says', async () => {
  const promised = { 'journal=off': 'none', 'synchronous=off': 'process-crash', 'synchronous=normal': 'process-crash',
    'synchronous=full': 'consistent', 'synchronous=extra': 'durable', 'journal=wal,synchronous=full': 'durable',
    'journal=wal,synchronous=normal': 'consistent', 'journal=wal,page_size=8192': 'durable' };
  for (const [settings, kept] of Object.entries(promised)) {
    const work = fs.mkdtempSync(path.join(directory, 'settings-'));
    fs.mkdirSync(path.join(work, 'store'));
    await Driver.with(`sqlite:${settings}`, path.join(work, 'store'), async (driver) => {
      await driver.build(work, 3);
      const { effective } = await driver.run(work, 'read', steps('read', [1, 2]));
      for (const [name, word] of settings.split(',').map((pair) => pair.split('='))) {
        assert.strictEqual(String(effective[name]), word);
      }
      const { described } = await driver.ask('describe');
      assert.deepStrictEqual(described.kinds.map(({ name }) => name), ['sqlite', 'null']);
      assert.strictEqual(described.capabilities.durability.class, kept, settings);
    });
  }
});

test('what a transaction takes to begin belongs to the block and to no latency', async () => {
  const latencies = path.join(directory, 'latencies');
  const reads = steps('read', range(1, 6), { size: 5 });
  const run = (driver) => driver.run(directory, 'read', reads, { perTransaction: 2, latencies });
  const { wall_ns: wall } = await Driver.with('lying', directory, run, [process.execPath, '-e', LYING]);
  const told = fs.readFileSync(latencies);
  const longest = Math.max(...range(0, 5).map((n) => told.readUInt32LE(4 * n)));
  assert.ok(wall >= 3 * BEGIN_MS * 1e6 && longest < BEGIN_MS * 1e6, `${wall} ${longest}`);
});

test('a store that lies fails its block', async () => {
  const lies = [
    [/value 7 has 5 bytes instead of 9/, { action: 'read', key: 7, size: 9 }],
    [/visited 4 values instead of 1 to 3/, { action: 'scan', key: 7, most: 3 }],
    [/to be overwritten/, { action: 'overwrite', key: 7 }],
    [/to be deleted/, { action: 'delete', key: 7 }],
  ];
  for (const [words, step] of lies) {
    const run = (driver) => driver.run(directory, step.action, [step]);
    await assert.rejects(Driver.with('lying', directory, run, [process.execPath, '-e', LYING]), words);
  }
  const together = (driver) => driver.run(directory, 'insert', [{ action: 'insert', key: 7 }], { rows_per_statement: 10 });
  await assert.rejects(Driver.with('lying', directory, together, [process.execPath, '-e', LYING]), /inserts one row/);
});
