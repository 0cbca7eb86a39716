using System;
using System.Collections.Generic;
using System.Json;

/// <summary>An open store, used by one thread. What goes wrong is thrown, and fails the block or the task. Outside of a
/// transaction that was begun, each operation is one of its own.</summary>
public interface IStore {
    /// <summary>A value as the binding takes it; made before the clock runs.</summary>
    object Value(byte[] bytes);
    /// <summary>`writes`: something in the transaction will.</summary>
    void Begin(bool writes);
    void Commit();
    /// <summary>A value, or null.</summary>
    byte[] Get(long key);
    /// <summary>The same while the clock runs: its bytes, -1 if there is none, or Block.NothingKept.</summary>
    long Read(long key);
    /// <summary>Adds a key that is not there.</summary>
    void Insert(long key, object value);
    /// <summary>Replaces a value; false: there was none.</summary>
    bool Overwrite(long key, object value);
    bool Delete(long key);
    /// <summary>Tells the bytes of each value by rising key, of `most` at most.</summary>
    void Scan(long from, int most, Action<long> visited);
    void CreateTable();
    void DropTable();
    /// <summary>Settings as the engine tells them.</summary>
    JsonObject Effective();
    /// <summary>Closes it; `checkpoint`: what was written is brought to its resting place before.</summary>
    void Close(bool checkpoint);
}

/// <summary>A kind of store. What it tells of itself is JSON, in the words of docs/driver-format.md.</summary>
public interface IKind {
    /// <summary>Its name, what it is, its engine and settings.</summary>
    string Described();
    /// <summary>The "capabilities" of a store; NotSupportedException: there is none with these settings.</summary>
    string Capabilities(IDictionary<string, string> settings);
    /// <summary>Opens the store in a directory, or makes an empty one there.</summary>
    IStore Open(string place, IDictionary<string, string> settings, bool create);
}
