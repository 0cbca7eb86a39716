using System;
using System.Diagnostics;
using System.IO;
using System.Json;

/// <summary>The steps of a block, and the loop that does them, transaction by transaction.</summary>
sealed class Block {
    public readonly int LeadIn, Count;
    public long Scanned;
    readonly IStore store;
    readonly bool keepsNothing;
    readonly int group, table; // Operations of a transaction, 0: each alone. What is done to tables, -1: nothing.
    readonly byte[] sequence;
    readonly long first;
    readonly object[] values;
    readonly Action<long> visit;
    int visited;

    public Block(IStore store, bool keepsNothing, JsonValue workload, JsonValue share) {
        this.store = store;
        this.keepsNothing = keepsNothing;
        visit = bytes => { visited++; Scanned += bytes; };
        string each = workload["per_transaction"].ToString();
        group = each == "\"all\"" ? int.MaxValue : each == "1" ? 0 : int.Parse(each);
        table = Array.IndexOf(new[] { "create-table", "drop-table" }, (string)workload["operation"]);
        LeadIn = share["lead_in"];
        Count = LeadIn + (int)share["operations"];
        sequence = File.ReadAllBytes(share["sequence"]);
        first = share["first"];
        values = new object[Count];
        if (!share.ContainsKey("payloads") || share["payloads"] == null) return;
        byte[] offsets = File.ReadAllBytes(share["payloads"]["offsets"]);
        using (var file = File.OpenRead(share["payloads"]["values"]))
            for (int n = 0; n < Count; n++)
                if (Action(n) >= 1 && Action(n) <= 3)
                    values[n] = store.Value(Read(file, BitConverter.ToInt64(offsets, 8 * n), Size(n)));
    }

    public static byte[] Read(FileStream file, long from, int size) {
        var bytes = new byte[size];
        file.Position = from;
        for (int done = 0, more = 1; done < size && more > 0; done += more) more = file.Read(bytes, done, size - done);
        return bytes;
    }

    /// <summary>Where a step lies: behind the last record of the sequence comes its first.</summary>
    int At(int n) { return 16 + 16 * (int)((first + n) % BitConverter.ToInt64(sequence, 8)); }
    int Size(int n) { return BitConverter.ToInt32(sequence, At(n) + 8); }
    int Action(int n) { return table < 0 ? BitConverter.ToUInt16(sequence, At(n) + 12) : 6 + table; }

    /// <summary>Does some steps; latencies, where they are wanted, in nanoseconds, that of the first step first.</summary>
    public void Perform(int n, int to, uint[] latencies) {
        long before = Stopwatch.GetTimestamp();
        for (int told = 0; n < to;) {
            int end = group == 0 ? to : (int)Math.Min((long)n + group, to);
            if (group > 0) store.Begin();
            if (group > 0 && latencies != null) before = Stopwatch.GetTimestamp();
            for (; n < end; n++) {
                Step(n, BitConverter.ToInt64(sequence, At(n)));
                if (latencies == null) continue;
                long now = Stopwatch.GetTimestamp();
                latencies[told++] = (uint)Math.Min(Driver.Nanoseconds(now - before), uint.MaxValue);
                before = now;
            }
            if (group > 0) store.Commit();
        }
    }

    void Step(int n, long key) {
        switch (Action(n)) {
            case 0: Expect(n, key, store.Read(key)); break;
            case 1: Expect(n, key, store.Overwrite(key, values[n]) ? Size(n) : -1); break;
            case 2:
                if (group == 0) store.Begin();
                Expect(n, key, store.Read(key));
                Expect(n, key, store.Overwrite(key, values[n]) ? Size(n) : -1);
                if (group == 0) store.Commit();
                break;
            case 3: store.Insert(key, values[n]); break;
            case 4: Expect(n, key, store.Delete(key) ? Size(n) : -1); break;
            case 5:
                int most = BitConverter.ToUInt16(sequence, At(n) + 14);
                visited = 0;
                store.Scan(key, most, visit);
                if (visited < 1 || visited > most) throw new InvalidDataException("a scan visited " + visited + " values");
                break;
            case 6: store.CreateTable(); break;
            case 7: store.DropTable(); break;
            default: throw new InvalidDataException("the sequence has an action that is not known");
        }
    }

    void Expect(int n, long key, long bytes) {
        if (bytes != Size(n) && !keepsNothing) throw new InvalidDataException("the value of key " + key
            + (bytes < 0 ? " is missing" : " has " + bytes + " bytes, not " + Size(n)));
    }
}
