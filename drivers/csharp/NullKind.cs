using System;
using System.Collections.Generic;
using System.Json;

/// <summary>Does nothing: what the driver's own loop costs.</summary>
sealed class NullKind : IKind, IStore {
    public string Described() {
        return @"{""name"": ""null"", ""about"": ""does nothing: what the loop of C# costs"", ""keeps_nothing"": true,
            ""settings"": []}";
    }

    public string Capabilities(IDictionary<string, string> settings) { return SqliteKind.Can("none"); }
    public IStore Open(string place, IDictionary<string, string> settings, bool create) { return this; }
    public object Value(byte[] bytes) { return bytes; }
    public void Begin(bool writes) { }
    public void Commit() { }
    public byte[] Get(long key) { return null; }
    public long Read(long key) { return Block.NothingKept; }
    public void Insert(long key, object value) { }
    public bool Overwrite(long key, object value) { return true; }
    public bool Delete(long key) { return true; }
    public void Scan(long from, int most, Action<long> visited) { visited(0); }
    public void CreateTable() { }
    public void DropTable() { }
    public JsonObject Effective() { return new JsonObject(); }
    public void Close(bool checkpoint) { }
}
