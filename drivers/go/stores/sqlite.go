package stores

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/mattn/go-sqlite3" // registers "sqlite3"
	_ "modernc.org/sqlite"          // registers "sqlite"

	"stowplan-driver-go/driver"
)

// Sqlite is SQLite itself, called through cgo.
var Sqlite = sqliteKind("sqlite", "sqlite3", "github.com/mattn/go-sqlite3", "SQLite in C")

// Modernc is SQLite translated to Go.
var Modernc = sqliteKind("modernc", "sqlite", "modernc.org/sqlite", "SQLite translated to Go")

var ctx = context.Background()

func sqliteKind(name, registered, module, what string) driver.Kind {
	engine := func() []string {
		db, err := sql.Open(registered, ":memory:")
		if err != nil {
			return nil
		}
		defer db.Close()
		version := "unknown"
		_ = db.QueryRow("SELECT sqlite_version()").Scan(&version)
		return []string{"SQLite by " + module + " " + moduleVersion(module), version}
	}
	return driver.Kind{
		About: driver.Object{
			"name": name, "about": "a table of an SQLite database, by database/sql and " + module + ": " + what,
			"engine": engine(), "settings": []driver.Object{
				choice("journal", "PRAGMA journal_mode", "delete", "wal", "off"),
				choice("synchronous", "PRAGMA synchronous", "full", "normal", "off", "extra"),
				size("cache", 1<<16, 1<<40, 2_000_000, "PRAGMA cache_size, in KiB"),
				pageSize(512, "PRAGMA page_size"),
				choice("statement", "prepared once, or for each operation", "prepared", "each"),
			},
		},
		Can: sqliteCan,
		Open: func(asked driver.Task, settings map[string]string, create bool) (driver.Store, error) {
			return openSqlite(registered, asked.Place, settings, create)
		},
	}
}

// sqliteCan has what SQLite promises (docs/method.md, "Durability classes"), and how often a commit syncs
// for that: records of the journal and its header, its directory entry, and the database.
func sqliteCan(settings map[string]string) driver.Object {
	journal, synchronous := settings["journal"], settings["synchronous"]
	full := synchronous == "full" || synchronous == "extra"
	switch {
	case journal == "off" && synchronous == "off":
		return can("none", false, 0)
	case journal == "off":
		return can("none", false, 1)
	case synchronous == "off":
		return can("process-crash", false, 0)
	case journal == "wal" && full:
		return can("durable", false, 1)
	case journal == "wal":
		return can("consistent", false, 0)
	case synchronous == "extra":
		return can("durable", false, 5)
	case synchronous == "full": // the unlink of the journal is not synced: it may undo the commit
		return can("consistent", false, 4)
	}
	return can("process-crash", false, 3)
}

// sqlite is one connection, taken out of database/sql's pool for good, with its statements.
type sqlite struct {
	db                                    *sql.DB
	conn                                  *sql.Conn
	begin, immediate, commit              *statement
	read, insert, overwrite, remove, scan *statement
}

// statement is prepared, unless it is to be for each operation. Both are called as they are: through an interface
// each operation would allocate its arguments, which is no cost of the binding.
type statement struct {
	conn *sql.Conn
	text string
	kept *sql.Stmt
}

func openSqlite(registered, place string, settings map[string]string, create bool) (driver.Store, error) {
	path, err := below(place, "go.db", create)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open(registered, path)
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	set := []string{
		"PRAGMA page_size=" + settings["page_size"],
		fmt.Sprintf("PRAGMA cache_size=-%d", number(settings, "cache")/1024),
		"PRAGMA journal_mode=" + settings["journal"], "PRAGMA synchronous=" + settings["synchronous"],
	}
	if create {
		set = append(set, "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)")
	}
	for _, text := range set {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	s := &sqlite{db: db, conn: conn}
	return s, s.prepare(settings["statement"] == "prepared")
}

func (s *sqlite) prepare(once bool) (err error) {
	for text, place := range map[string]**statement{
		"BEGIN": &s.begin, "BEGIN IMMEDIATE": &s.immediate, "COMMIT": &s.commit,
		"SELECT v FROM kv WHERE k=?": &s.read, "INSERT INTO kv VALUES(?,?)": &s.insert,
		"UPDATE kv SET v=? WHERE k=?": &s.overwrite, "DELETE FROM kv WHERE k=?": &s.remove,
		"SELECT v FROM kv WHERE k>=? ORDER BY k LIMIT ?": &s.scan,
	} {
		*place = &statement{conn: s.conn, text: text}
		if once {
			if (*place).kept, err = s.conn.PrepareContext(ctx, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// exec tells whether it changed a row.
func (s *statement) exec(arguments ...any) (changed bool, err error) {
	var done sql.Result
	if s.kept != nil {
		done, err = s.kept.ExecContext(ctx, arguments...)
	} else {
		done, err = s.conn.ExecContext(ctx, s.text, arguments...)
	}
	if err != nil {
		return false, err
	}
	rows, err := done.RowsAffected()
	return rows == 1, err
}

func (s *sqlite) Begin(write bool) error {
	begin := s.begin
	if write {
		begin = s.immediate
	}
	_, err := begin.exec()
	return err
}

func (s *sqlite) Commit() error {
	_, err := s.commit.exec()
	return err
}

// Read has database/sql make a slice for the value, as most programs do.
func (s *sqlite) Read(key uint64, show func([]byte)) (bool, error) {
	var value []byte
	var row *sql.Row
	if s.read.kept != nil {
		row = s.read.kept.QueryRowContext(ctx, int64(key))
	} else {
		row = s.conn.QueryRowContext(ctx, s.read.text, int64(key))
	}
	err := row.Scan(&value)
	if err == sql.ErrNoRows {
		return false, nil
	} else if err == nil {
		show(value)
	}
	return err == nil, err
}

func (s *sqlite) Insert(key uint64, value []byte) error {
	_, err := s.insert.exec(int64(key), value)
	return err
}

func (s *sqlite) Overwrite(key uint64, value []byte) (bool, error) {
	return s.overwrite.exec(value, int64(key))
}

func (s *sqlite) Delete(key uint64) (bool, error) {
	return s.remove.exec(int64(key))
}

func (s *sqlite) Scan(from uint64, most int, show func([]byte)) (err error) {
	var rows *sql.Rows
	if s.scan.kept != nil {
		rows, err = s.scan.kept.QueryContext(ctx, int64(from), most)
	} else {
		rows, err = s.conn.QueryContext(ctx, s.scan.text, int64(from), most)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var value []byte
		if err := rows.Scan(&value); err != nil {
			return err
		}
		show(value)
	}
	return rows.Err()
}

func (s *sqlite) Effective() (driver.Object, error) {
	var journal, version string
	var synchronous, page, cache int
	for text, told := range map[string]any{
		"PRAGMA journal_mode": &journal, "PRAGMA synchronous": &synchronous, "PRAGMA page_size": &page,
		"PRAGMA cache_size": &cache, "SELECT sqlite_version()": &version,
	} {
		if err := s.conn.QueryRowContext(ctx, text).Scan(told); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return driver.Object{
		"journal": journal, "synchronous": []string{"off", "normal", "full", "extra"}[synchronous],
		"page_size": page, "cache": -1024 * cache, "version": version,
	}, nil
}

func (s *sqlite) Close(checkpoint bool) (time.Duration, error) {
	if checkpoint {
		var busy, log, done int
		row := s.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		if err := row.Scan(&busy, &log, &done); err != nil {
			return 0, err
		} else if busy != 0 {
			return 0, errors.New("the write-ahead log cannot be emptied: another program uses the database")
		}
	}
	return 0, s.db.Close()
}
