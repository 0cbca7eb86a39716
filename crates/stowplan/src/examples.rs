//! What `--help` teaches by: command lines that work as they stand, or with a name replaced.
//!
//! Verbs with a module of their own have theirs there. Lines fit 80 columns and are ASCII.

pub(crate) const ALL: &str = "\
Examples:
  stowplan doctor                     is this machine fit for measuring?
  stowplan study fasterthanfs         SQLite or one file each, 3 minutes
  stowplan study fasterthanfs --scale quick
                                      a first answer in a minute
  stowplan crossover                  from which size on are files faster?
  stowplan resume stowplan-results/DIR --budget 5m
                                      more time decides more
  stowplan report stowplan-results/DIR
                                      a result again, as text and HTML
  stowplan list stores sqlite         the settings of a store

'stowplan VERB --help' has examples of each verb; 'stowplan man' prints the
manual; 'stowplan completions bash' teaches your shell the names.";

pub(crate) const STUDY: &str = "\
Examples:
  stowplan study                      the studies there are
  stowplan study fasterthanfs         run one
  stowplan study fasterthanfs --scale quick --output first
                                      with a tenth of the data, into 'first'
  stowplan study crud --dry-run       what it would measure, and what that needs
  stowplan study why --only read      what a read costs, step by step
  stowplan study crud --why           the same of another one
  stowplan study fasterthanfs --only read --only cold/files
                                      one comparison, and one cell of another
  stowplan study fasterthanfs --work /mnt/disk --budget 10m
                                      on another file system, in ten minutes
  stowplan study crud --format csv > cells.csv
                                      a row per cell, for a spreadsheet
  stowplan study mine.toml --json > analysis.json
                                      a study of your own: docs/study-format.md";

pub(crate) const RESUME: &str = "\
Examples:
  stowplan resume stowplan-results/DIR
                                      a study, a crossover, or advice
  stowplan resume stowplan-results/DIR --budget 5m
                                      for five minutes more
  stowplan resume stowplan-results/DIR --rounds 30
                                      what is undecided, with more rounds";

pub(crate) const LIST: &str = "\
Examples:
  stowplan list                       the studies
  stowplan list stores                the stores
  stowplan list stores sqlite         the settings of a store, and their values
  stowplan list stores redb:durability=none
                                      what it promises with other settings
  stowplan list drivers               what hosts stores, or why it cannot";

pub(crate) const DRIVERS: &str = "\
Examples:
  stowplan drivers check built-in flat
                                      whether a driver does what it should

'stowplan list drivers' lists them.";

pub(crate) const STAT: &str = "\
Examples:
  stowplan stat pictures              of any directory: sizes, and what is odd
  stowplan stat app.db --table files --column body
                                      of any column of blobs
  stowplan stat pictures --json       for a program
  stowplan stat pictures --to blobs.html
                                      as a page; .md and .json as well";

pub(crate) const KVTEST: &str = "\
Examples:
  stowplan kvtest init test1.db --count 100k --size 10k --variance 2k
  stowplan kvtest stat test1.db
  stowplan kvtest export test1.db test1.dir
  stowplan kvtest run test1.db --count 100k --blob-api
  stowplan kvtest run test1.dir --count 100k

Every command line of https://sqlite.org/fasterthanfs.html works with './kvtest'
replaced by 'stowplan kvtest', or by a link to stowplan that is called kvtest,
on the same files. Options take one dash or two. What each is in store specs
and workloads, and what is done better than by kvtest: docs/kvtest.md.";

pub(crate) const KVTEST_INIT: &str = "\
Examples:
  stowplan kvtest init test1.db --count 100k --size 10k --variance 2k
                                      100,000 blobs of 8,000 to 12,000 bytes
  stowplan kvtest init test2.db --pagesize 16384 --seed 7
                                      larger pages, other blobs";

pub(crate) const KVTEST_STAT: &str = "\
Examples:
  stowplan kvtest stat test1.db       sizes, pages, and how full they are
  stowplan kvtest stat test1.dir      the same of a directory of files";

pub(crate) const KVTEST_EXPORT: &str = "\
Examples:
  stowplan kvtest export test1.db test1.dir
                                      000001, 000002, ... in one directory
  stowplan kvtest export test1.db test1.tree --tree
                                      00/00/01, 00/00/02, ... in many";

pub(crate) const KVTEST_RUN: &str = "\
Examples:
  stowplan kvtest run test1.db --count 100k --blob-api
  stowplan kvtest run test1.db --count 100k --random --mmap 1GiB
  stowplan kvtest run test1.dir --count 100k --cache-state cold
  stowplan kvtest run copy.db --count 10k --update --overwrite-my-data
                                      values are replaced by random bytes
  stowplan kvtest run test1.db --count 100k --to run.md";

pub(crate) const DOCTOR: &str = "\
Examples:
  stowplan doctor                     here
  stowplan doctor /mnt/disk           where --work of a study would be
  stowplan doctor --study crud        judge memory and disk for another study
  stowplan doctor --verbose           with the reason for every check
  stowplan doctor --to machine.md
                                      as Markdown; .html and .json as well
  stowplan doctor --quiet || exit     in a script: 1 where a problem was found";

pub(crate) const MAN: &str = "\
Examples:
  stowplan man | man -l -             read the manual
  stowplan man study | man -l -       that of a verb
  stowplan man --to ~/.local/share/man/man1
                                      all of it, for 'man stowplan-study'";

pub(crate) const COMPLETIONS: &str = "\
Examples:
  stowplan completions bash > ~/.stowplan.bash
                                      and 'source ~/.stowplan.bash' in .bashrc
  stowplan completions zsh > ~/.zfunc/_stowplan
                                      with ~/.zfunc in fpath, before compinit
  stowplan completions fish > ~/.config/fish/completions/stowplan.fish";
