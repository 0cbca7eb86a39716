using System;
using System.Collections.Generic;
using System.Data.Common;
using System.IO;
using System.Reflection;

/// <summary>Any ADO.NET provider, in its defaults, with the statements of "Benchmarking embedded databases for .NET"
/// (CodeProject, 2011).</summary>
sealed class AdoKind : IKind {
    public string Described() {
        return @"{""name"": ""ado"", ""about"": ""a table through an ADO.NET provider in its defaults, by the SQL of a .NET benchmark of 2011"",
            ""engine"": [""ADO.NET"", """ + Environment.Version + @"""], ""settings"": [
            {""name"": ""provider"", ""kind"": {""text"": {}}, ""default"": ""Mono.Data.Sqlite"", ""shapes_layout"": true,
             ""help"": ""invariant name, such as Microsoft.Data.Sqlite""},
            {""name"": ""connection"", ""kind"": {""text"": {}}, ""default"": ""Data Source={file}"", ""shapes_layout"": true,
             ""help"": ""connection string; {file} is the database""},
            {""name"": ""statement"", ""kind"": {""choice"": [""each"", ""prepared""]}, ""default"": ""each"",
             ""help"": ""a command for each operation, its key and value in its text, or one that is kept, with parameters""},
            {""name"": ""ids"", ""kind"": {""choice"": [""assigned"", ""given""]}, ""default"": ""assigned"",
             ""help"": ""whether the engine numbers new rows where that is the number they shall have""},
            {""name"": ""column_type"", ""kind"": {""choice"": [""blob"", ""text""]}, ""default"": ""blob"", ""shapes_layout"": true,
             ""help"": ""blob, or nvarchar(500) as in 2011, which keeps values that are UTF-8""}]}";
    }

    /// <summary>Mono's SQLite has a rollback journal and synchronous=NORMAL unless the connection says otherwise; of that and of
    /// other engines nothing is claimed.</summary>
    public string Capabilities(IDictionary<string, string> settings) {
        string provider = settings["provider"];
        Factory(provider);
        bool isSqlite = provider.EndsWith(".Sqlite", StringComparison.OrdinalIgnoreCase);
        return SqliteKind.Can(isSqlite && settings["connection"] == "Data Source={file}" ? "process-crash" : "none");
    }

    public IStore Open(string place, IDictionary<string, string> settings, bool create) {
        string provider = settings["provider"], file = Path.Combine(place, "ado.db");
        if (!create && !File.Exists(file)) throw new FileNotFoundException("there is no database " + file);
        bool text = settings["column_type"] == "text";
        DbConnection db = Factory(provider).CreateConnection();
        db.ConnectionString = settings["connection"].Replace("{file}", file);
        db.Open();
        return new AdoStore(db, new AdoStore.Form {
            Create = "CREATE TABLE Test ( id integer not null primary key, textdata " + (text ? "nvarchar(500));" : "blob);"),
            Drop = "DROP TABLE Test",
            InsertNext = settings["ids"] != "assigned" ? null
                : new AdoStore.Statement("INSERT INTO Test (textdata) VALUES ({1});"),
            Insert = new AdoStore.Statement("INSERT INTO Test (id, textdata) VALUES ({0}, {1});"),
            Read = new AdoStore.Statement("SELECT textdata FROM Test WHERE id = {0}"),
            Update = new AdoStore.Statement("UPDATE Test SET textdata = {1} WHERE id = {0}"),
            Delete = new AdoStore.Statement("DELETE FROM Test WHERE id = {0}"),
            Scan = new AdoStore.Statement("SELECT textdata FROM Test WHERE id >= {0} ORDER BY id"),
            Commands = settings["statement"] == "each" ? AdoStore.Commands.Text : AdoStore.Commands.Kept,
            Text = text,
        }, create);
    }

    /// <summary>A provider that is registered under the name, or that of the assembly of the name.</summary>
    public static DbProviderFactory Factory(string provider) {
        try {
            return DbProviderFactories.GetFactory(provider);
        } catch (Exception) { } // Not registered, or not to be loaded.
        try {
#pragma warning disable 618 // Its version is whatever is there.
            Assembly assembly = Assembly.LoadWithPartialName(provider);
#pragma warning restore 618
            foreach (Type type in assembly == null ? Type.EmptyTypes : assembly.GetExportedTypes())
                if (type.IsSubclassOf(typeof(DbProviderFactory)) && type.GetField("Instance") != null)
                    return (DbProviderFactory)type.GetField("Instance").GetValue(null);
        } catch (Exception error) {
            throw new NotSupportedException("the ADO.NET provider '" + provider + "' does not run here: " + error.GetBaseException().Message);
        }
        throw new NotSupportedException("there is no ADO.NET provider '" + provider + "' here; put " + provider
            + ".dll and what it needs beside " + Assembly.GetExecutingAssembly().Location + ", or use Mono.Data.Sqlite");
    }
}
