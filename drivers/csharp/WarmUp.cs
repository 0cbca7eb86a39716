using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

/// <summary>What comes before a block, so that store and loop are compiled: README.md, "What the figures mean".</summary>
static class WarmUp {
    public const string Setting = @"{""name"": ""warm_up"", ""kind"": {""integer"": {""min"": 0, ""max"": 1000000}}, ""default"": ""100"",
        ""help"": ""how often each operation is done before a block, to a store in memory that is thrown away, for 3 seconds at most; 0: the block is what a process does that has just begun""}";

    const int AtOnce = 10, Kept = 50, Bytes = 100;

    /// <summary>Makes a directory that nobody else may enter, of a name that nobody knows before.</summary>
    [DllImport("libc.so.6")]
    static extern IntPtr mkdtemp(StringBuilder name);

    /// <summary>Does so by blocks like the one that comes, on another store of the kind.</summary>
    public static void Of(IKind kind, IDictionary<string, string> settings, string perTransaction, bool latencies) {
        int times = int.Parse(settings["warm_up"]);
        if (times == 0) return;
        string memory = Directory.Exists("/dev/shm") ? "/dev/shm" : Path.GetTempPath();
        var place = new StringBuilder(Path.Combine(memory, "stowplan-csharp-warm-up-XXXXXX"));
        if (mkdtemp(place) == IntPtr.Zero) throw new IOException("no directory for warming up can be made in " + memory);
        try {
            IStore store = kind.Open(place.ToString(), settings, true);
            object value = store.Value(Encoding.ASCII.GetBytes(new string('x', Bytes)));
            var told = new uint[6 * AtOnce];
            long end = Stopwatch.GetTimestamp() + 3 * Stopwatch.Frequency;
            for (int key = 1; key <= times && Stopwatch.GetTimestamp() < end; key += AtOnce) {
                Block.Step[] steps = Steps(key, Math.Min(key + AtOnce, times + 1), value);
                new Block(store, perTransaction, steps).Perform(0, steps.Length, latencies ? told : null);
            }
            store.DropTable();
            store.CreateTable();
            store.Close(true);
        } finally {
            Directory.Delete(place.ToString(), true);
        }
    }

    /// <summary>Each operation once for each of these keys.</summary>
    static Block.Step[] Steps(int key, int end, object value) {
        var steps = new List<Block.Step>();
        for (; key < end; key++) {
            foreach (int action in new[] { Block.Insert, Block.Overwrite, Block.Modify, Block.Read, Block.Scan })
                steps.Add(new Block.Step { Action = action, Key = key, Size = Bytes, Most = 1, Value = value });
            if (key > Kept) steps.Add(new Block.Step { Action = Block.Delete, Key = key - Kept });
        }
        return steps.ToArray();
    }
}
