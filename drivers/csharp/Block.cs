using System;
using System.Diagnostics;
using System.IO;
using System.Json;

/// <summary>The steps of a block, and the loop that does them, transaction by transaction.</summary>
sealed class Block {
    public const int Read = 0, Overwrite = 1, Modify = 2, Insert = 3, Delete = 4, Scan = 5;
    const int CreateTable = 6, DropTable = 7;

    /// <summary>What is done, to the value of a key; `Most` is how many values a scan visits.</summary>
    public struct Step {
        public int Action, Size, Most;
        public long Key;
        public object Value;
    }

    /// <summary>What is read where nothing is kept: every value is taken to be there, of any size.</summary>
    public const long NothingKept = -2;
    public long Scanned;
    readonly IStore store;
    readonly bool alone; // Each operation is a transaction of its own.
    readonly int group; // Operations of a transaction.
    readonly bool mix; // Some steps write, and some do not.
    readonly Step[] steps;
    readonly Action<long> visit;
    int visited;

    /// <summary>`perTransaction` is a number, or "all".</summary>
    public Block(IStore store, string perTransaction, Step[] steps) {
        this.store = store;
        this.steps = steps;
        visit = bytes => { visited++; Scanned += bytes; };
        alone = perTransaction == "1";
        group = int.TryParse(perTransaction, out int some) ? some : steps.Length;
        mix = Array.Exists(steps, step => Reads(ref step) != Reads(ref steps[0]));
    }

    /// <summary>The steps that the files of a run say.</summary>
    public static Step[] Steps(IStore store, JsonValue workload, JsonValue share, int count) {
        var steps = new Step[count];
        int table = Array.IndexOf(new[] { "create-table", "drop-table" }, (string)workload["operation"]);
        byte[] sequence = File.ReadAllBytes(share["sequence"]);
        JsonValue files = Driver.Given(share, "payloads");
        byte[] offsets = files == null ? null : File.ReadAllBytes(files["offsets"]);
        using (var values = files == null ? null : new BinaryReader(File.OpenRead(files["values"])))
            for (int n = 0; n < count; n++) { // Behind the last record of the sequence comes its first.
                int at = 16 + 16 * (int)(((long)share["first"] + n) % BitConverter.ToInt64(sequence, 8));
                steps[n].Key = BitConverter.ToInt64(sequence, at);
                steps[n].Size = BitConverter.ToInt32(sequence, at + 8);
                steps[n].Action = table < 0 ? BitConverter.ToUInt16(sequence, at + 12) : CreateTable + table;
                steps[n].Most = BitConverter.ToUInt16(sequence, at + 14);
                if (steps[n].Action >= Overwrite && steps[n].Action <= Insert)
                    steps[n].Value = store.Value(Bytes(values, BitConverter.ToInt64(offsets, 8 * n), steps[n].Size));
            }
        return steps;
    }

    public static byte[] Bytes(BinaryReader file, long from, long size) {
        file.BaseStream.Position = from;
        return file.ReadBytes((int)size);
    }

    /// <summary>Does some steps; latencies, where they are wanted, in nanoseconds, that of the first step first.</summary>
    public void Perform(int n, int to, uint[] latencies) {
        long before = Stopwatch.GetTimestamp();
        for (int told = 0; n < to;) {
            int end = alone || to - n < group ? to : n + group;
            if (!alone) store.Begin(Writes(n, end));
            if (!alone && latencies != null) before = Stopwatch.GetTimestamp();
            for (; n < end; n++) {
                Apply(ref steps[n]);
                if (latencies == null) continue;
                long now = Stopwatch.GetTimestamp();
                latencies[told++] = (uint)Math.Min(Driver.Nanoseconds(now - before), uint.MaxValue);
                before = now;
            }
            if (!alone) store.Commit();
        }
    }

    /// <summary>Whether one of some steps does; only those of a mix differ.</summary>
    bool Writes(int n, int end) {
        while (mix && n + 1 < end && Reads(ref steps[n])) n++;
        return !Reads(ref steps[n]);
    }

    static bool Reads(ref Step step) { return step.Action == Read || step.Action == Scan; }

    void Apply(ref Step step) {
        switch (step.Action) {
            case Read: Expect(ref step, store.Read(step.Key)); break;
            case Overwrite: Expect(ref step, store.Overwrite(step.Key, step.Value) ? step.Size : -1); break;
            case Modify:
                if (alone) store.Begin(true);
                Expect(ref step, store.Read(step.Key));
                Expect(ref step, store.Overwrite(step.Key, step.Value) ? step.Size : -1);
                if (alone) store.Commit();
                break;
            case Insert: store.Insert(step.Key, step.Value); break;
            case Delete: Expect(ref step, store.Delete(step.Key) ? step.Size : -1); break;
            case Scan:
                visited = 0;
                store.Scan(step.Key, step.Most, visit);
                if (visited < 1 || visited > step.Most) throw new InvalidDataException("a scan visited " + visited + " values");
                break;
            case CreateTable: store.CreateTable(); break;
            case DropTable: store.DropTable(); break;
            default: throw new InvalidDataException("the sequence has an action that is not known");
        }
    }

    static void Expect(ref Step step, long bytes) {
        if (bytes != step.Size && bytes != NothingKept) throw new InvalidDataException("the value of key " + step.Key
            + (bytes < 0 ? " is missing" : " has " + bytes + " bytes, not " + step.Size));
    }
}
