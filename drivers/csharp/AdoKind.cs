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
             ""help"": ""invariant name, such as Microsoft.Data.Sqlite or System.Data.SqlServerCe.4.0""},
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
        if (provider.StartsWith("System.Data.SqlServerCe") && settings["column_type"] == "blob" && settings["statement"] == "each")
            throw new NotSupportedException("bytes are not written into the SQL of SQL CE; use column_type=text or statement=prepared");
        bool isSqlite = provider.EndsWith(".Sqlite", StringComparison.OrdinalIgnoreCase);
        return SqliteKind.Can(isSqlite && settings["connection"] == "Data Source={file}" ? "process-crash" : "none");
    }

    public IStore Open(string place, IDictionary<string, string> settings, bool create) {
        string provider = settings["provider"], file = Path.Combine(place, "ado.db");
        if (!create && !File.Exists(file)) throw new FileNotFoundException("there is no database " + file);
        bool compact = provider.StartsWith("System.Data.SqlServerCe"), text = settings["column_type"] == "text";
        DbProviderFactory factory = Factory(provider);
        if (create && compact) CreateCompact(factory, file);
        DbConnection db = factory.CreateConnection();
        db.ConnectionString = settings["connection"].Replace("{file}", file);
        db.Open();
        return new AdoStore(db, new AdoStore.Form {
            Create = "CREATE TABLE Test ( id integer not null " + (compact ? "identity " : "") + "primary key, textdata "
                + (text ? "nvarchar(500));" : compact ? "image);" : "blob);"),
            Drop = "DROP TABLE Test",
            InsertNext = settings["ids"] == "assigned" ? "INSERT INTO Test (textdata) VALUES ({1});" : null,
            Insert = "INSERT INTO Test (id, textdata) VALUES ({0}, {1});",
            Read = "SELECT textdata FROM Test WHERE id = {0}",
            Update = "UPDATE Test SET textdata = {1} WHERE id = {0}",
            Delete = "DELETE FROM Test WHERE id = {0}",
            Scan = "SELECT textdata FROM Test WHERE id >= {0} ORDER BY id",
            Commands = settings["statement"] == "each" ? AdoStore.Commands.Text : AdoStore.Commands.Kept,
            Text = text,
        }, create);
    }

    /// <summary>SQL CE makes a database only when it is told to.</summary>
    static void CreateCompact(DbProviderFactory factory, string file) {
        Type engine = factory.GetType().Assembly.GetType("System.Data.SqlServerCe.SqlCeEngine", true);
        object made = Activator.CreateInstance(engine, "Data Source=" + file);
        engine.GetMethod("CreateDatabase").Invoke(made, null);
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
