'use strict';
// The other side of the protocol, for tests: files of a dataset and a block, and a driver that is asked.
const { spawn } = require('node:child_process');
const crypto = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const PROGRAM = [process.execPath, path.join(__dirname, '..', 'stowplan-driver-node')];
const ACTIONS = ['read', 'overwrite', 'modify', 'insert', 'delete', 'scan'];
const NONE = 0xffffffffffffffffn;

// A value of 0 to 5,999 bytes, which keeps its size in each version.
function value(key, version = 0) {
  const size = crypto.createHash('sha256').update(String(key)).digest().readUInt32LE() % 6000;
  return crypto.createHash('shake256', { outputLength: Math.max(size, 1) }).update(`${key} ${version}`).digest()
    .subarray(0, size);
}

function numbers(found) {
  const bytes = Buffer.alloc(8 * found.length);
  found.forEach((number, n) => bytes.writeBigUInt64LE(BigInt(number), 8 * n));
  return bytes;
}

function range(first, last) {
  return Array.from({ length: last - first + 1 }, (_, n) => first + n);
}

function writeDataset(place, count) {
  fs.mkdirSync(place);
  const values = range(1, count).map((key) => value(key));
  const ends = [0];
  for (const one of values) ends.push(ends.at(-1) + one.length);
  fs.writeFileSync(path.join(place, 'values.bin'), Buffer.concat(values));
  fs.writeFileSync(path.join(place, 'index.bin'), numbers(ends));
}

// A process that serves one store.
class Driver {
  constructor(store, place, program = PROGRAM) {
    this.at = { store, place };
    this.process = spawn(program[0], program.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = readline.createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.ended = new Promise((resolve) => { this.process.on('exit', resolve); });
  }

  // Its greeting is heard first, and its end waited for; what `does` returns.
  static async with(store, place, does, program = PROGRAM) {
    const driver = new Driver(store, place, program);
    try {
      driver.hello = (await driver.hear()).hello;
      return await does(driver);
    } finally {
      driver.process.stdin.end();
      await driver.ended;
    }
  }

  say(message) { this.process.stdin.write(`${JSON.stringify(message)}\n`); }

  async hear() {
    const answer = JSON.parse((await this.lines.next()).value);
    if (answer.failed) throw new Error(answer.failed.message);
    return answer.progress ? this.hear() : answer;
  }

  ask(task, fields = {}) {
    this.say({ [task]: { ...this.at, ...fields } });
    return this.hear();
  }

  // Makes the store, loads so many values and closes it.
  async build(work, count) {
    writeDataset(path.join(work, 'dataset'), count);
    await this.ask('create');
    await this.ask('load', { dataset: path.join(work, 'dataset'), first: 1, count });
    await this.ask('rest', { checkpoint: true });
  }

  // Does steps: {action, key, size, version, most}; what was measured, with the effective settings.
  async run(work, operation, steps, { perTransaction = 1, leadIn = 0, latencies, ...workload } = {}) {
    const [records, values, offsets] = [[], [], []];
    let end = 0;
    for (const { action, key, size = value(key).length, version = 0, most = 0 } of steps) {
      const record = Buffer.alloc(16);
      record.writeBigUInt64LE(BigInt(key));
      record.writeUInt32LE(size, 8);
      record.writeUInt16LE(ACTIONS.indexOf(action), 12);
      record.writeUInt16LE(most, 14);
      records.push(record);
      offsets.push(end);
      if (['overwrite', 'modify', 'insert'].includes(action)) values.push(value(key, version));
      end = values.reduce((sum, one) => sum + one.length, 0);
    }
    const file = (name, bytes) => {
      fs.writeFileSync(path.join(work, name), bytes);
      return path.join(work, name);
    };
    const sequence = file('sequence', Buffer.concat([Buffer.from('STOWSEQ1'), numbers([steps.length]), ...records]));
    const payloads = { values: file('values', Buffer.concat(values)), offsets: file('offsets', numbers(offsets)) };
    const share = { sequence, first: 0, lead_in: leadIn, operations: steps.length - leadIn, payloads, latencies };
    const asked = { workload: { operation, per_transaction: perTransaction, ...workload }, threads: [share], counting: false };
    const { ready } = await this.ask('run', asked);
    this.say('go');
    return { ...(await this.hear()).measured, ...ready };
  }

  // The values of keys; undefined where there is none.
  async dump(work, keys) {
    fs.writeFileSync(path.join(work, 'keys'), numbers(keys));
    await this.ask('dump', { keys: path.join(work, 'keys'), to: path.join(work, 'dumped') });
    const dumped = fs.readFileSync(path.join(work, 'dumped'));
    let at = 0;
    return new Map(keys.map((key) => {
      const length = dumped.readBigUInt64LE(at);
      const from = at + 8;
      at = from + (length === NONE ? 0 : Number(length));
      return [key, length === NONE ? undefined : dumped.subarray(from, at)];
    }));
  }
}

module.exports = { Driver, range, value };
