'use strict';
// A store that does nothing, by which it is measured what Node's own loop costs.
const { Store } = require('../stowplan-driver.js');

const NOTHING = Buffer.alloc(0);

class Null extends Store {
  static kind = { name: 'null', about: "does nothing: what Node's own loop costs", keeps_nothing: true };
  static can = { operations: ['read', 'overwrite', 'insert'], transactions: true };
  read() { return NOTHING; }
  insert() {}
  overwrite() { return true; }
}

module.exports = Null;
