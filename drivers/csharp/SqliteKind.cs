using System.Collections.Generic;
using System.Data.Common;
using System.IO;

/// <summary>A table of an SQLite database through Mono.Data.Sqlite, with the settings of the other languages.</summary>
sealed class SqliteKind : IKind {
    const string Provider = "Mono.Data.Sqlite";

    public string Described() {
        return @"{""name"": ""sqlite"", ""about"": ""a table of an SQLite database, through Mono.Data.Sqlite"",
            ""engine"": [""SQLite of Mono.Data.Sqlite"", """ + Version() + @"""], ""settings"": [
            {""name"": ""journal"", ""kind"": {""choice"": [""delete"", ""wal"", ""off""]}, ""default"": ""delete""},
            {""name"": ""synchronous"", ""kind"": {""choice"": [""full"", ""normal"", ""off"", ""extra""]}, ""default"": ""full""},
            {""name"": ""cache"", ""kind"": {""bytes"": {""min"": 65536, ""max"": 1099511627776}}, ""default"": ""2000000""},
            {""name"": ""page_size"", ""kind"": {""bytes"": {""min"": 512, ""max"": 65536, ""power_of_two"": true}},
             ""default"": ""4096"", ""shapes_layout"": true},
            {""name"": ""statement"", ""kind"": {""choice"": [""prepared"", ""each""]}, ""default"": ""prepared"",
             ""help"": ""a command that is kept, or one for each operation, both with parameters""},
            {""name"": ""column_type"", ""kind"": {""choice"": [""blob"", ""text""]}, ""default"": ""blob"", ""shapes_layout"": true,
             ""help"": ""of the values; text keeps values that are UTF-8""}]}";
    }

    static string Version() {
        using (DbConnection db = AdoKind.Factory(Provider).CreateConnection()) {
            db.ConnectionString = "Data Source=:memory:";
            db.Open();
            return db.ServerVersion;
        }
    }

    /// <summary>What SQLite promises: docs/method.md, "Durability classes".</summary>
    public string Capabilities(IDictionary<string, string> settings) {
        string journal = settings["journal"], synchronous = settings["synchronous"];
        bool wal = journal == "wal", full = synchronous == "full", extra = synchronous == "extra";
        int syncs = synchronous == "off" ? 0 : journal == "off" ? 1 : wal ? (synchronous == "normal" ? 0 : 1)
            : extra ? 5 : full ? 4 : 3;
        return Can(journal == "off" ? "none" : synchronous == "off" ? "process-crash" : extra || wal && full ? "durable"
            : wal || full ? "consistent" : "process-crash", syncs);
    }

    /// <summary>The capabilities of a table.</summary>
    public static string Can(string durability, int syncs = 0) {
        return @"{""operations"": [""read"", ""overwrite"", ""insert"", ""delete"", ""scan"", ""mix"", ""create-table"", ""drop-table""],
            ""transactions"": true, ""syncs_per_commit"": " + syncs + @", ""durability"": {""class"": """ + durability
            + @""", ""atomic"": " + (durability == "none" ? "false" : "true") + "}}";
    }

    public IStore Open(string place, IDictionary<string, string> settings, bool create) {
        string file = Path.Combine(place, "csharp.db");
        if (!create && !File.Exists(file)) throw new FileNotFoundException("there is no database " + file);
        DbConnection db = AdoKind.Factory(Provider).CreateConnection();
        db.ConnectionString = "Data Source=" + file;
        db.Open();
        foreach (string pragma in new[] { "page_size=" + settings["page_size"], "cache_size=-" + long.Parse(settings["cache"]) / 1024,
                "journal_mode=" + settings["journal"], "synchronous=" + settings["synchronous"],
                "secure_delete=off" }) // the system's library may overwrite what is freed, others do not
            using (DbCommand command = db.CreateCommand()) {
                command.CommandText = "PRAGMA " + pragma;
                command.ExecuteScalar();
            }
        bool text = settings["column_type"] == "text";
        return new AdoStore(db, new AdoStore.Form {
            Create = "CREATE TABLE kv(k INTEGER PRIMARY KEY, v " + (text ? "TEXT)" : "BLOB)"),
            Drop = "DROP TABLE kv",
            Insert = new AdoStore.Statement("INSERT INTO kv(k,v) VALUES({0},{1})"),
            Read = new AdoStore.Statement("SELECT v FROM kv WHERE k={0}"),
            Update = new AdoStore.Statement("UPDATE kv SET v={1} WHERE k={0}"),
            Delete = new AdoStore.Statement("DELETE FROM kv WHERE k={0}"),
            Scan = new AdoStore.Statement("SELECT v FROM kv WHERE k>={0} ORDER BY k"),
            Commands = settings["statement"] == "each" ? AdoStore.Commands.Each : AdoStore.Commands.Kept,
            Text = text,
        }, create);
    }
}
