using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Text;

/// <summary>What a store's code does before a block: README.md, "What the figures mean".</summary>
static class WarmUp {
    public const string Setting = @"{""name"": ""warm_up"", ""kind"": {""integer"": {""min"": 0, ""max"": 1000000}}, ""default"": ""100"",
        ""help"": ""how often each operation is done before a block, to a store in memory that is thrown away, for 3 seconds at most; 0: the block is what a process does that has just begun""}";

    static readonly string Memory = Directory.Exists("/dev/shm") ? "/dev/shm" : Path.GetTempPath();
    const string Place = "stowplan-csharp-warm-up-";

    /// <summary>Does so on another store of the kind, not on the one that is measured.</summary>
    public static void Of(IKind kind, IDictionary<string, string> settings, bool together) {
        // The driver's cost is asked for without settings.
        int most = settings.TryGetValue("warm_up", out string times) ? int.Parse(times) : 0;
        if (most == 0) return;
        foreach (string left in Directory.GetDirectories(Memory, Place + "*")) // By a process that was killed.
            if (!Directory.Exists("/proc/" + left.Substring(left.LastIndexOf('-') + 1))) Directory.Delete(left, true);
        string place = Path.Combine(Memory, Place + Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(place);
        IStore store = kind.Open(place, settings, true);
        object value = store.Value(Encoding.ASCII.GetBytes(new string('x', 100)));
        long end = Stopwatch.GetTimestamp() + 3 * Stopwatch.Frequency;
        for (int key = 1; key <= most && Stopwatch.GetTimestamp() < end || together && key % 100 != 1; key++) {
            if (together && key % 100 == 1) store.Begin();
            store.Insert(key, value);
            store.Overwrite(key, value);
            store.Read(key);
            store.Scan(key, 1, bytes => { });
            if (key > 50) store.Delete(key - 50);
            if (together && key % 100 == 0) store.Commit();
        }
        store.DropTable();
        store.CreateTable();
        store.Close(true);
        Directory.Delete(place, true);
    }
}
