using System;
using System.Collections.Generic;
using System.Data;
using System.Data.Common;
using System.Json;
using System.Text;

/// <summary>A table through an ADO.NET provider, whichever it is.</summary>
sealed class AdoStore : IStore {
    /// <summary>How a statement gets its key and its value: in its text, as parameters of a command that is made for it, or
    /// of one that is kept.</summary>
    public enum Commands { Text, Each, Kept }

    /// <summary>In its text {0} stands for the key, {1} for the value.</summary>
    public sealed class Statement {
        public readonly string Text, WithParameters;
        public readonly bool HasKey, HasValue;
        public DbCommand Command;
        public DbParameter Key, Value;

        public Statement(string text) {
            Text = text;
            WithParameters = string.Format(text, "@key", "@value");
            HasKey = text.Contains("{0}");
            HasValue = text.Contains("{1}");
        }
    }

    public sealed class Form {
        public string Create, Drop;
        public Statement Read, Insert, InsertNext, Update, Delete, Scan;
        public Commands Commands;
        public bool Text;
    }

    readonly DbConnection db;
    readonly Form form;
    readonly List<Statement> kept = new List<Statement>();
    DbTransaction transaction;
    /// <summary>The number that the engine gives to the next row; -1: not known.</summary>
    long next = -1;

    public AdoStore(DbConnection db, Form form, bool create) {
        this.db = db;
        this.form = form;
        if (create) CreateTable();
        else if (form.InsertNext != null) {
            object last = Scalar("SELECT MAX(id) FROM Test");
            next = last is DBNull ? 1 : Convert.ToInt64(last) + 1;
        }
    }

    /// <summary>The command of a statement, with its key and value.</summary>
    DbCommand Command(Statement statement, object key, object value = null) {
        if (form.Commands == Commands.Text) return Plain(string.Format(statement.Text, key, value));
        if (form.Commands == Commands.Each || statement.Command == null) Make(statement);
        else statement.Command.Transaction = transaction;
        if (statement.HasKey) statement.Key.Value = key;
        if (statement.HasValue) statement.Value.Value = value;
        return statement.Command;
    }

    void Make(Statement statement) {
        statement.Command = Plain(statement.WithParameters);
        if (statement.HasKey) statement.Key = Parameter(statement.Command, "@key");
        if (statement.HasValue) statement.Value = Parameter(statement.Command, "@value");
        if (form.Commands == Commands.Kept) kept.Add(statement);
    }

    DbCommand Plain(string text) {
        DbCommand command = db.CreateCommand();
        command.CommandText = text;
        command.Transaction = transaction;
        return command;
    }

    static DbParameter Parameter(DbCommand command, string name) {
        DbParameter parameter = command.CreateParameter();
        parameter.ParameterName = name;
        command.Parameters.Add(parameter);
        return parameter;
    }

    void Forget() {
        foreach (Statement statement in kept) {
            statement.Command.Dispose();
            statement.Command = null;
        }
        kept.Clear();
    }

    void Done(DbCommand command) {
        if (form.Commands != Commands.Kept) command.Dispose();
    }

    int Execute(DbCommand command) {
        int rows = command.ExecuteNonQuery();
        Done(command);
        return rows;
    }

    void Run(string text) {
        using (DbCommand command = Plain(text)) command.ExecuteNonQuery();
    }

    object Scalar(string text) {
        using (DbCommand command = Plain(text)) return command.ExecuteScalar();
    }

    object Find(long key) {
        DbCommand command = Command(form.Read, key);
        object value = command.ExecuteScalar();
        Done(command);
        return value is DBNull ? null : value;
    }

    static long SizeOf(object value) {
        var bytes = value as byte[];
        return bytes != null ? bytes.Length : Encoding.UTF8.GetByteCount((string)value);
    }

    public object Value(byte[] bytes) {
        bool literal = form.Commands == Commands.Text;
        if (!form.Text) return literal ? "X'" + BitConverter.ToString(bytes).Replace("-", "") + "'" : (object)bytes;
        try {
            string text = new UTF8Encoding(false, true).GetString(bytes);
            return literal ? "'" + text.Replace("'", "''") + "'" : text;
        } catch (DecoderFallbackException) {
            throw new ArgumentException("a value is no UTF-8; use column_type=blob");
        }
    }

    /// <summary>Of SQLite's providers the default is BEGIN IMMEDIATE, and this level is BEGIN.</summary>
    public void Begin(bool writes) {
        transaction = writes ? db.BeginTransaction() : db.BeginTransaction(IsolationLevel.ReadCommitted);
    }

    public void Commit() {
        transaction.Commit();
        transaction.Dispose();
        transaction = null;
    }

    public byte[] Get(long key) {
        object value = Find(key);
        return (value as byte[]) ?? (value == null ? null : Encoding.UTF8.GetBytes((string)value));
    }

    public long Read(long key) {
        object value = Find(key);
        return value == null ? -1 : SizeOf(value);
    }

    public void Insert(long key, object value) {
        Execute(Command(form.InsertNext != null && key == next ? form.InsertNext : form.Insert, key, value));
        next = next < 0 || key < next ? next : key + 1;
    }

    public bool Overwrite(long key, object value) { return Execute(Command(form.Update, key, value)) == 1; }

    public bool Delete(long key) {
        if (key == next - 1) next = -1;
        return Execute(Command(form.Delete, key)) == 1;
    }

    public void Scan(long from, int most, Action<long> visited) {
        DbCommand command = Command(form.Scan, from);
        using (DbDataReader rows = command.ExecuteReader())
            for (int n = 0; n < most && rows.Read(); n++) visited(SizeOf(rows.GetValue(0)));
        Done(command);
    }

    public void CreateTable() {
        Run(form.Create);
        next = form.InsertNext == null ? -1 : 1;
    }

    public void DropTable() {
        Forget(); // A statement that is kept would keep its table.
        Run(form.Drop);
    }

    public JsonObject Effective() {
        if (!db.GetType().Name.StartsWith("Sqlite", StringComparison.OrdinalIgnoreCase))
            return new JsonObject { { "version", db.ServerVersion } };
        string[] words = { "off", "normal", "full", "extra" };
        return new JsonObject {
            { "journal", Scalar("PRAGMA journal_mode").ToString() },
            { "synchronous", words[Convert.ToInt32(Scalar("PRAGMA synchronous"))] },
            { "page_size", Convert.ToInt64(Scalar("PRAGMA page_size")) },
            { "cache", -1024 * Convert.ToInt64(Scalar("PRAGMA cache_size")) },
            { "version", Scalar("SELECT sqlite_version()").ToString() },
        };
    }

    public void Close(bool checkpoint) {
        Forget();
        if (checkpoint && db.GetType().Name.StartsWith("Sqlite", StringComparison.OrdinalIgnoreCase))
            Scalar("PRAGMA wal_checkpoint(TRUNCATE)");
        db.Close();
    }
}
