using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Json;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;

/// <summary>The driver's side of the protocol (docs/driver-format.md), for the kinds that it is given.</summary>
sealed class Driver {
    readonly TextReader input = Console.In;
    readonly TextWriter output = Console.Out;
    readonly Dictionary<string, IKind> kinds = new Dictionary<string, IKind>();
    readonly JsonArray described = new JsonArray();
    IStore store;

    [DllImport("libc.so.6")]
    static extern int clock_gettime(int clock, long[] secondsAndNanoseconds);
    [DllImport("libc.so.6")]
    static extern IntPtr pread(int file, byte[] bytes, IntPtr size, IntPtr from);
    [DllImport("libc.so.6")]
    static extern int open(string path, int flags);

    const int ProcessTime = 2, ThreadTime = 3;

    static long Cpu(int clock) {
        var time = new long[2];
        clock_gettime(clock, time);
        return time[0] * 1000000000 + time[1];
    }

    /// <summary>Nanoseconds that a thread was ready and waited for a processor: the second number of its schedstat.</summary>
    static long Waited(byte[] schedstat) { return long.Parse(Encoding.ASCII.GetString(schedstat).Split(' ')[1]); }

    /// <summary>The runtime and its version, which of Mono is not that of the CLR it stands for.</summary>
    static string Runtime() {
        MethodInfo name = Type.GetType("Mono.Runtime")?.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);
        return name == null ? "CLR " + Environment.Version : "Mono " + name.Invoke(null, null);
    }

    /// <summary>A field that may be left out.</summary>
    public static JsonValue Given(JsonValue fields, string name) { return fields.ContainsKey(name) ? fields[name] : null; }

    public static long Nanoseconds(long ticks) { return ticks * (1000000000 / Stopwatch.Frequency); }

    public void Converse(params IKind[] all) {
        Console.SetOut(Console.Error); // What a library prints is no part of the conversation.
        Say("hello", new JsonObject { { "protocol", "stowplan-driver" }, { "version", 4 }, { "tool", Runtime() } });
        try {
            foreach (IKind kind in all) {
                var about = (JsonObject)JsonValue.Parse(kind.Described());
                ((JsonArray)about["settings"]).Add(JsonValue.Parse(WarmUp.Setting));
                kinds[about["name"]] = kind;
                described.Add(about);
            }
            string line;
            while ((line = input.ReadLine()) != null && line != "\"bye\"")
                foreach (var message in (JsonObject)JsonValue.Parse(line)) Answer(message.Key, (JsonObject)message.Value);
        } catch (Exception error) { // The parent tells it to whoever runs the study.
            Say("failed", new JsonObject { { "message", error.GetBaseException().Message } });
        }
    }

    void Say(string name, JsonObject fields) { output.WriteLine(new JsonObject { { name, fields } }.ToString()); }

    void Answer(string task, JsonObject asked) {
        string[] spec = ((string)Given(asked, "store") ?? "").Split(new[] { ':' }, 2);
        var settings = spec.Skip(1).SelectMany(text => text.Split(',')).Select(pair => pair.Split(new[] { '=' }, 2))
            .ToDictionary(pair => pair[0], pair => pair[1]);
        if (!kinds.TryGetValue(spec[0], out IKind kind) && spec[0] != "")
            throw new NotSupportedException("this driver has no store '" + spec[0] + "'");
        if (store == null && new[] { "create", "load", "run", "dump" }.Contains(task))
            store = kind.Open(asked["place"], settings, task == "create");
        switch (task) {
            case "describe": Say("described", Describe(kind, settings)); return;
            case "inspect": Say("inspected", new JsonObject()); return;
            case "run": Say("measured", Run(asked, kind, settings)); return;
            case "load": Load(asked, asked["first"], asked["count"]); break;
            case "dump": Dump(asked); break;
            case "rest":
                store?.Close(asked["checkpoint"]);
                store = null;
                break;
            case "create": break; // It is open.
            default: throw new NotSupportedException("the task '" + task + "' is not known");
        }
        output.WriteLine("\"done\"");
    }

    JsonObject Describe(IKind kind, IDictionary<string, string> settings) {
        var told = new JsonObject { { "kinds", described } };
        try {
            if (kind != null) told["capabilities"] = JsonValue.Parse(kind.Capabilities(settings));
        } catch (NotSupportedException refused) {
            told["refused"] = refused.Message;
        }
        return told;
    }

    void Load(JsonObject asked, long first, long count) {
        byte[] offsets = File.ReadAllBytes((string)asked["dataset"] + "/index.bin");
        using (var values = new BinaryReader(File.OpenRead((string)asked["dataset"] + "/values.bin")))
            for (long key = first; key < first + count;) {
                store.Begin(true); // Not one for all: some stores hold in memory what a transaction writes.
                for (long bytes = 0, size; key < first + count && bytes < 16 << 20; bytes += size + 100, key++) {
                    long from = BitConverter.ToInt64(offsets, (int)(8 * (key - 1)));
                    size = BitConverter.ToInt64(offsets, (int)(8 * key)) - from;
                    store.Insert(key, store.Value(Block.Bytes(values, from, size)));
                }
                store.Commit();
                Say("progress", new JsonObject { { "done", key - first }, { "total", count } });
            }
    }

    void Dump(JsonObject asked) {
        byte[] keys = File.ReadAllBytes(asked["keys"]);
        using (var to = new BufferedStream(File.OpenWrite(asked["to"])))
            for (int at = 0; at < keys.Length; at += 8) {
                byte[] value = store.Get(BitConverter.ToInt64(keys, at));
                to.Write(BitConverter.GetBytes(value == null ? -1L : value.Length), 0, 8);
                if (value != null) to.Write(value, 0, value.Length);
            }
    }

    JsonObject Run(JsonObject asked, IKind kind, IDictionary<string, string> settings) {
        JsonValue workload = asked["workload"], share = asked["threads"][0];
        if (asked["threads"].Count > 1 || (Given(workload, "rows_per_statement") ?? 1) > 1)
            throw new InvalidOperationException("this driver has one thread, and a statement inserts one row");
        int leadIn = share["lead_in"], operations = share["operations"];
        string each = workload["per_transaction"].ToString();
        var block = new Block(store, each, Block.Steps(store, workload, share, leadIn + operations));
        var latencies = Given(share, "latencies") == null ? null : new uint[operations];
        WarmUp.Of(kind, settings, each, latencies != null);
        if ((string)workload["operation"] == "create-table") store.DropTable(); // The one that a new store has.
        byte[] before = new byte[100], after = new byte[100];
        int schedstat = open("/proc/thread-self/schedstat", 0); // Not every kernel has it.
        pread(schedstat, after, (IntPtr)100, IntPtr.Zero); // The first time takes longer.
        Cpu(ThreadTime);
        GC.Collect(); // What the preparation leaves behind is no cost of the block's.
        Say("ready", new JsonObject { { "effective", store.Effective() } });
        input.ReadLine();
        block.Perform(0, leadIn, null);
        block.Scanned = 0;
        long process = Cpu(ProcessTime), thread = Cpu(ThreadTime), start = Stopwatch.GetTimestamp();
        pread(schedstat, before, (IntPtr)100, IntPtr.Zero); // Within the time, or it could be more than the time.
        block.Perform(leadIn, leadIn + operations, latencies);
        pread(schedstat, after, (IntPtr)100, IntPtr.Zero);
        long wall = Stopwatch.GetTimestamp() - start;
        thread = Cpu(ThreadTime) - thread;
        process = Cpu(ProcessTime) - process;
        if (latencies != null) File.WriteAllBytes(share["latencies"], latencies.SelectMany(BitConverter.GetBytes).ToArray());
        var usage = new JsonObject { { "thread_cpu_ns", thread }, { "process_cpu_ns", process } };
        if (schedstat >= 0) usage["run_delay_ns"] = Waited(after) - Waited(before);
        var measured = new JsonObject { { "wall_ns", Nanoseconds(wall) }, { "usage", usage } };
        if (block.Scanned > 0) measured["bytes"] = block.Scanned;
        return measured;
    }
}
