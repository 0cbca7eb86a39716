'use strict';
// The driver protocol of Stowplan for stores in Node; docs/driver-format.md says what each message means.
// A kind of store is a subclass of Store, and serve is the whole program. Nothing but what Node brings.
const [fs, os] = [require('node:fs'), require('node:os')];
const { StringDecoder } = require('node:string_decoder');

const [READ, DELETE, SCAN] = [0, 4, 5];
const LOADED_AT_ONCE = 1000;
const SCHEDSTAT = fs.existsSync('/proc/thread-self/schedstat') && fs.openSync('/proc/thread-self/schedstat');

class Wrong extends Error {} // Its message is all there is to say.

// One table of values (Buffers) under keys (whole numbers), and what its kind is. A kind has besides:
//   read(key): the value, or undefined if there is none;
//   insert(key, value), which throws where there is one;
//   overwrite(key, value) and remove(key): whether there was one;
//   scan(key, most): the values of at most so many keys, in their order, from this one on.
// Each is a transaction of its own unless one was begun. checkpoint brings what was written to its resting place;
// effective has settings as the engine itself tells them.
class Store {
  // Its name, a sentence about it, its settings, the engine's name and version, and whether it keeps_nothing.
  static kind = {};
  static can = { operations: ['read', 'overwrite', 'insert', 'delete', 'scan', 'mix'], transactions: true };
  // What a write promises (docs/method.md, "Durability classes").
  static durability() { return { class: 'none', atomic: false }; }
  // Opens the store in the directory `place`; with `fresh`, makes it.
  constructor(place, settings, fresh) {}
  begin(writes) {}
  commit() {}
  effective() { return {}; }
  checkpoint() {}
  close() {}
}

// The settings of a store spec, which spells out all of them: booleans, numbers or words.
function typed(kind, spec) {
  const given = new Map(spec.slice(spec.indexOf(':') + 1).split(',').map((pair) => pair.split(/=(.*)/s)));
  return Object.fromEntries((kind.kind.settings ?? []).map((known) => {
    const text = given.get(known.name) ?? known.default;
    if (known.kind === 'flag') return [known.name, text === 'on'];
    return [known.name, known.kind.bytes || known.kind.integer ? Number(text) : text];
  }));
}

function numbers(path) {
  const bytes = fs.readFileSync(path);
  return Array.from({ length: bytes.length / 8 }, (_, n) => Number(bytes.readBigUInt64LE(8 * n)));
}

// A value from a file, in a Buffer of its own.
function valueIn(file, from, bytes) {
  const value = Buffer.allocUnsafeSlow(bytes);
  if (bytes > 0 && fs.readSync(file, value, 0, bytes, from) !== bytes) throw new Wrong('a file of values is cut');
  return value;
}

// What a step does, by its action. A value must be there with its size; `alone`: no transaction is open.
function actions(store, alone, block) {
  const { name, keeps_nothing: keepsNothing } = store.constructor.kind;
  const wrong = (key, why) => { throw new Wrong(`${name}: value ${key} ${why}`); };
  const reading = ({ key, size }) => {
    const found = store.read(key);
    if ((found === undefined || found.length !== size) && !keepsNothing) {
      wrong(key, found === undefined ? 'is missing' : `has ${found.length} bytes instead of ${size}`);
    }
  };
  const overwriting = ({ key, value }) => store.overwrite(key, value) || wrong(key, 'is missing, and was to be overwritten');
  const modifying = (step) => {
    if (alone) store.begin(true);
    reading(step);
    overwriting(step);
    if (alone) store.commit();
  };
  const deleting = ({ key }) => store.remove(key) || wrong(key, 'is missing, and was to be deleted');
  const scanning = ({ key, most }) => {
    const found = Array.from(store.scan(key, most), (value) => value.length);
    for (const length of found) block.scanned += length;
    if (found.length < 1 || found.length > most) {
      wrong(key, `is where a scan began that visited ${found.length} values instead of 1 to ${most}`);
    }
  };
  return [reading, overwriting, modifying, ({ key, value }) => store.insert(key, value), deleting, scanning];
}

// The steps of a share, each with the call that does it, of the lead-in and the timed ones apart; and those
// that begin and end transactions.
function prepare(store, workload, share, block) {
  const each = workload.per_transaction;
  const acting = actions(store, each === 1, block);
  const sequence = fs.readFileSync(share.sequence);
  const count = Number(sequence.readBigUInt64LE(8));
  const [offsets, values] = share.payloads ? [numbers(share.payloads.offsets), fs.openSync(share.payloads.values)] : [];
  const stepAt = (n) => {
    const at = 16 + 16 * ((share.first + n) % count);
    const [size, action, most] = [sequence.readUInt32LE(at + 8), ...[12, 14].map((of) => sequence.readUInt16LE(at + of))];
    const writes = action !== READ && action !== SCAN;
    const value = writes && action !== DELETE ? valueIn(values, offsets[n], size) : undefined;
    return { call: acting[action], key: Number(sequence.readBigUInt64LE(at)), size, most, value, writes, between: false };
  };
  const calls = (first, length) => {
    const steps = Array.from({ length }, (_, n) => stepAt(first + n));
    const size = each === 'all' ? Math.max(length, 1) : each;
    if (each === 1) return steps;
    return Array.from({ length: Math.ceil(length / size) }, (_, n) => {
      const transaction = steps.slice(n * size, (n + 1) * size);
      const writes = transaction.some((step) => step.writes);
      const begin = { ...transaction[0], call: () => store.begin(writes), between: true };
      return [begin, ...transaction, { ...begin, call: () => store.commit() }];
    }).flat();
  };
  return [calls(0, share.lead_in), calls(share.lead_in, share.operations)];
}

// Makes calls; with an array for latencies, reads the clock behind each of them.
function act(steps, latencies) {
  if (!latencies) {
    for (const step of steps) step.call(step);
    return;
  }
  let [told, last] = [0, process.hrtime.bigint()];
  for (const step of steps) {
    step.call(step);
    const now = process.hrtime.bigint();
    if (!step.between) latencies[told++] = Math.min(Number(now - last), 0xffffffff);
    last = now;
  }
}

// What the system counts of this process and of the thread that all this runs in, by the protocol's names.
function counted() {
  const [{ user, system }, thread] = [process.cpuUsage(), process.threadCpuUsage?.()];
  return {
    user_ns: 1000 * user, system_ns: 1000 * system, process_cpu_ns: 1000 * (user + system),
    thread_cpu_ns: thread && 1000 * (thread.user + thread.system),
  };
}

// How long this thread waited for a processor, in nanoseconds, where the system says so.
const delay = (line = Buffer.alloc(64)) =>
  SCHEDSTAT && fs.readSync(SCHEDSTAT, line, 0, 64, 0) ? Number(line.latin1Slice().split(' ')[1]) : undefined;

// Shows strace where the timed operations begin and end: by asking for a process that is none.
function mark(counting, number) {
  try { if (counting && process.env.STOWPLAN_STRACE) os.getPriority(1398034263 + number); } catch { /* There is none. */ }
}

// What a block took. The delay is read within the time, or what passes between both could be more delay than time.
function timed(steps, latencies, counting) {
  const before = counted();
  mark(counting, 0);
  const start = process.hrtime.bigint();
  before.run_delay_ns = delay();
  act(steps, latencies);
  const [run_delay_ns, wall] = [delay(), process.hrtime.bigint() - start];
  mark(counting, 1);
  const usage = Object.entries({ ...counted(), run_delay_ns }).filter(([name]) => before[name] !== undefined);
  return { wall_ns: Number(wall), usage: Object.fromEntries(usage.map(([name, now]) => [name, now - before[name]])) };
}

const tasks = {
  describe(driver, { store = '' }) {
    const kinds = [...driver.kinds.values()].map((known) => known.kind);
    const kind = driver.kinds.get(store.split(':')[0]);
    return { described: { kinds, capabilities: kind && { ...kind.can, durability: kind.durability(typed(kind, store)) } } };
  },
  create: (driver, asked) => void driver.opened(asked, true),
  load(driver, asked) {
    const [store, index] = [driver.opened(asked), numbers(`${asked.dataset}/index.bin`)];
    const [values, end] = [fs.openSync(`${asked.dataset}/values.bin`), asked.first + asked.count];
    for (let some = asked.first; some < end; some += LOADED_AT_ONCE) {
      store.begin(true);
      for (let key = some; key < Math.min(some + LOADED_AT_ONCE, end); key += 1) {
        store.insert(key, valueIn(values, index[key - 1], index[key] - index[key - 1]));
      }
      store.commit();
      driver.say({ progress: { done: Math.min(some + LOADED_AT_ONCE, end) - asked.first, total: asked.count } });
    }
  },
  run(driver, asked) {
    const [store, workload, share] = [driver.opened(asked), asked.workload, asked.threads[0]];
    if (asked.threads.length > 1 || workload.rows_per_statement > 1) {
      throw new Wrong(`${store.constructor.kind.name}: this driver has one thread, and a statement inserts one row`);
    }
    const [block, latencies] = [{ scanned: 0 }, share.latencies && new Uint32Array(share.operations)];
    const [leadIn, steps] = prepare(store, workload, share, block);
    global.gc?.(); // What was prepared is no garbage: the collector need not move it within the block.
    driver.say({ ready: { effective: store.effective() } });
    driver.hear();
    act(leadIn);
    block.scanned = 0;
    const measured = timed(steps, latencies, asked.counting);
    if (latencies) fs.writeFileSync(share.latencies, latencies);
    return { measured: { ...measured, bytes: block.scanned } };
  },
  dump(driver, asked) {
    const [store, out, length] = [driver.opened(asked), fs.openSync(asked.to, 'w'), Buffer.alloc(8)];
    for (const key of numbers(asked.keys)) {
      const value = store.read(key);
      length.writeBigUInt64LE(value === undefined ? 0xffffffffffffffffn : BigInt(value.length));
      fs.writeSync(out, value === undefined ? length : Buffer.concat([length, value]));
    }
    fs.closeSync(out);
  },
  rest(driver, { checkpoint }) {
    if (checkpoint) driver.store?.checkpoint();
    driver.store?.close();
    driver.store = undefined;
  },
  inspect: () => ({ inspected: {} }),
};

class Driver {
  constructor(kinds) {
    this.kinds = new Map(kinds.map((kind) => [kind.kind.name, kind]));
    [this.heard, this.decoder, this.bytes] = ['', new StringDecoder('utf8'), Buffer.alloc(1 << 16)];
  }
  opened(asked, fresh = false) {
    const kind = this.kinds.get(asked.store.split(':')[0]);
    this.store ??= new kind(asked.place, typed(kind, asked.store), fresh);
    return this.store;
  }
  say(message) { fs.writeSync(1, `${JSON.stringify(message)}\n`); }
  hear() {
    while (!this.heard.includes('\n')) {
      const length = fs.readSync(0, this.bytes);
      if (length === 0) return 'bye';
      this.heard += this.decoder.write(this.bytes.subarray(0, length));
    }
    const [line] = this.heard.split('\n', 1);
    this.heard = this.heard.slice(line.length + 1);
    return JSON.parse(line);
  }
}

// A driver program that hosts these kinds; `tool` is its name and version.
function serve(tool, kinds) {
  const driver = new Driver(kinds);
  driver.say({ hello: { protocol: 'stowplan-driver', version: 4, tool } });
  try {
    for (let message = driver.hear(); message !== 'bye'; message = driver.hear()) {
      const [[task, asked]] = Object.entries(message);
      driver.say(tasks[task](driver, asked) ?? 'done');
    }
  } catch (error) { // The parent tells it to whoever runs the study.
    const told = error instanceof Wrong ? error.message : `${error.name}: ${error.message}`;
    driver.say({ failed: { message: told.replace(/\s+/g, ' ') } });
  }
}

module.exports = { Store, Wrong, serve };
