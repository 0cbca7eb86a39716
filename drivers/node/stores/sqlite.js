'use strict';
// A table of an SQLite database through better-sqlite3, which brings an SQLite of its own.
const fs = require('node:fs');
const path = require('node:path');
const Database = require('better-sqlite3');
const { Store, Wrong } = require('../stowplan-driver.js');

const SYNCHRONOUS = ['off', 'normal', 'full', 'extra'];
const TEXTS = {
  begin: 'BEGIN',
  beginImmediate: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  read: 'SELECT v FROM kv WHERE k=?',
  insert: 'INSERT INTO kv VALUES(?,?)',
  overwrite: 'UPDATE kv SET v=? WHERE k=?',
  remove: 'DELETE FROM kv WHERE k=?',
  scan: 'SELECT v FROM kv WHERE k>=? ORDER BY k LIMIT ?',
};

function version() {
  const memory = new Database(':memory:');
  const found = memory.prepare('SELECT sqlite_version()').pluck().get();
  memory.close();
  return found;
}

class Sqlite extends Store {
  static kind = {
    name: 'sqlite',
    about: 'a table of an SQLite database, through better-sqlite3',
    engine: [`better-sqlite3 ${require('better-sqlite3/package.json').version}, SQLite`, version()],
    settings: [
      { name: 'journal', kind: { choice: ['delete', 'wal', 'off'] }, default: 'delete', help: 'PRAGMA journal_mode' },
      { name: 'synchronous', kind: { choice: SYNCHRONOUS }, default: 'full', help: 'PRAGMA synchronous' },
      { name: 'cache', kind: { bytes: { min: 65536, max: 2 ** 40 } }, default: '2048000',
        help: "SQLite's own page cache (PRAGMA cache_size, in KiB)" },
      { name: 'page_size', kind: { bytes: { min: 512, max: 65536, power_of_two: true } }, default: '4096',
        help: 'size of a database page', shapes_layout: true },
      { name: 'statement', kind: { choice: ['prepared', 'each'] }, default: 'prepared',
        help: 'whether statements are prepared once, or for each operation' },
    ],
  };

  static can = { ...Store.can, largest_value: 1000000000 };

  static durability({ journal, synchronous }) {
    if (journal === 'off') return { class: 'none', atomic: false };
    const wal = journal === 'wal';
    // An unlinked journal may come back and undo a commit; with NORMAL its records and its header are synced
    // together, so that it may be torn.
    const kept = { off: 'process-crash', normal: wal ? 'consistent' : 'process-crash',
      full: wal ? 'durable' : 'consistent', extra: 'durable' };
    return { class: kept[synchronous], atomic: true };
  }

  constructor(place, settings, fresh) {
    super(place, settings, fresh);
    const file = path.join(place, 'node.db');
    if (!fresh && !fs.existsSync(file)) throw new Wrong(`there is no database ${file}`);
    this.db = new Database(file);
    this.db.pragma(`page_size=${settings.page_size}`);
    this.db.pragma(`cache_size=${-Math.ceil(settings.cache / 1024)}`);
    // Without a journal nothing can be undone, which better-sqlite3 allows only where it is told to.
    if (settings.journal === 'off') this.db.unsafeMode(true);
    this.db.pragma(`journal_mode=${settings.journal}`);
    this.db.pragma(`synchronous=${settings.synchronous}`);
    if (fresh) this.db.exec('CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)');
    const each = settings.statement === 'each';
    for (const [name, text] of Object.entries(TEXTS)) {
      const made = each ? undefined : this.prepared(name, text);
      this[`${name}Statement`] = each ? () => this.prepared(name, text) : () => made;
    }
  }

  // Rows of one column are asked for by its value.
  prepared(name, text) {
    const statement = this.db.prepare(text);
    return name === 'read' || name === 'scan' ? statement.pluck() : statement;
  }

  begin(writes) {
    (writes ? this.beginImmediateStatement() : this.beginStatement()).run();
  }

  commit() {
    this.commitStatement().run();
  }

  read(key) {
    return this.readStatement().get(key);
  }

  insert(key, value) {
    this.insertStatement().run(key, value);
  }

  overwrite(key, value) {
    return this.overwriteStatement().run(value, key).changes === 1;
  }

  remove(key) {
    return this.removeStatement().run(key).changes === 1;
  }

  scan(key, most) {
    return this.scanStatement().iterate(key, most);
  }

  effective() {
    const told = (name) => this.db.pragma(name, { simple: true });
    return { journal: told('journal_mode'), synchronous: SYNCHRONOUS[told('synchronous')],
      page_size: told('page_size'), cache: -1024 * told('cache_size'), version: Sqlite.kind.engine[1] };
  }

  checkpoint() {
    this.db.pragma('wal_checkpoint(TRUNCATE)');
  }

  close() {
    this.db.close();
  }
}

module.exports = Sqlite;
