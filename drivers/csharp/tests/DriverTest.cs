using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text;

/// <summary>Drives the program as stowplan does: a process, lines of JSON, and files.</summary>
static class DriverTest {
    const int Read = 0, Overwrite = 1, Modify = 2, Insert = 3, Delete = 4, Scan = 5;
    const string Seed = "ado:provider=Mono.Data.Sqlite,connection=Data Source={file},statement=each,ids=assigned,column_type=text,warm_up=0";
    const string Sqlite = "sqlite:journal=wal,synchronous=full,cache=2000000,page_size=4096,statement=prepared,column_type=blob,warm_up=20";
    static readonly string[] Specs = {
        Seed, Seed.Replace("each", "prepared"), Seed.Replace("=text", "=blob"), Seed.Replace("assigned", "given"),
        Sqlite, Sqlite.Replace("prepared", "each"), Sqlite.Replace("=blob", "=text"),
    };

    static string driver, work;
    static int failed;

    /// <summary>One process of the driver, greeted.</summary>
    sealed class Conversation : IDisposable {
        readonly Process process;
        readonly string spec;
        public readonly string Greeting;

        public Conversation(string spec) {
            this.spec = spec;
            process = Process.Start(new ProcessStartInfo("mono", driver) {
                UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true,
            });
            Greeting = process.StandardOutput.ReadLine();
            Holds(Greeting, "\"version\": 4");
        }

        public string Ask(string task, string fields = "") {
            return Say("{\"" + task + "\":{\"store\":\"" + spec + "\",\"place\":\"" + work + "/store\"" + fields + "}}");
        }

        public string Say(string line) {
            process.StandardInput.WriteLine(line);
            process.StandardInput.Flush();
            string answer = process.StandardOutput.ReadLine();
            return answer.Contains("progress") ? process.StandardOutput.ReadLine() : answer;
        }

        /// <summary>A block of these steps, each an action, a key and the text that it writes, or bytes of what it reads.</summary>
        public string Block(string operation, string perTransaction, int leadIn, params object[][] steps) {
            var sequence = new List<byte>(Encoding.ASCII.GetBytes("STOWSEQ1"));
            sequence.AddRange(BitConverter.GetBytes((long)steps.Length));
            var offsets = new List<byte>();
            string values = "";
            foreach (object[] step in steps) {
                string written = step[2] as string;
                sequence.AddRange(BitConverter.GetBytes((long)(int)step[1]));
                sequence.AddRange(BitConverter.GetBytes(written == null ? (int)step[2] : written.Length));
                sequence.AddRange(BitConverter.GetBytes((ushort)(int)step[0]));
                sequence.AddRange(BitConverter.GetBytes((ushort)3));
                offsets.AddRange(BitConverter.GetBytes((long)values.Length));
                values += written;
            }
            string ready = Ask("run", ",\"workload\":{\"operation\":\"" + operation + "\",\"per_transaction\":" + perTransaction
                + "},\"threads\":[{\"sequence\":\"" + Write("sequence", sequence.ToArray()) + "\",\"first\":0,\"lead_in\":" + leadIn
                + ",\"operations\":" + (steps.Length - leadIn) + ",\"payloads\":{\"values\":\"" + Write("values", Latin(values))
                + "\",\"offsets\":\"" + Write("offsets", offsets.ToArray()) + "\"},\"latencies\":\"" + work + "/latencies\"}]");
            return ready.StartsWith("{\"ready\"") ? Say("\"go\"") : ready;
        }

        /// <summary>The values of keys, those that are missing as "-".</summary>
        public string Values(params long[] keys) {
            string wanted = Write("keys", keys.SelectMany(number => BitConverter.GetBytes(number)).ToArray());
            string to = Write("dump", new byte[0]), found = "";
            Same("\"done\"", Ask("dump", ",\"keys\":\"" + wanted + "\",\"to\":\"" + to + "\""));
            byte[] told = File.ReadAllBytes(to);
            for (int at = 0; at < told.Length;) {
                long size = BitConverter.ToInt64(told, at);
                found += (size < 0 ? "-" : Encoding.UTF8.GetString(told, at + 8, (int)size)) + " ";
                at += 8 + (int)Math.Max(size, 0);
            }
            return found.Trim();
        }

        public void Dispose() {
            if (!process.HasExited) process.Kill();
            process.WaitForExit();
        }
    }

    static byte[] Latin(string text) { return text.Select(letter => (byte)letter).ToArray(); }

    static string Write(string name, byte[] content) {
        File.WriteAllBytes(work + "/" + name, content);
        return work + "/" + name;
    }

    static object[] Step(int action, int key, object what) { return new[] { action, key, what }; }

    static void Same(string expected, string found) {
        if (expected != found) throw new Exception("expected " + expected + "\n    found " + found);
    }

    static void Holds(string text, string part) {
        if (!text.Contains(part)) throw new Exception("'" + part + "' is not in " + text);
    }

    /// <summary>A store with the values one, two and three.</summary>
    static void Built(string spec) {
        Directory.CreateDirectory(work + "/store");
        Write("values.bin", Latin("onetwothree"));
        Write("index.bin", new long[] { 0, 3, 6, 11 }.SelectMany(number => BitConverter.GetBytes(number)).ToArray());
        using (var driver = new Conversation(spec)) {
            Same("\"done\"", driver.Ask("create"));
            Same("\"done\"", driver.Ask("load", ",\"dataset\":\"" + work + "\",\"first\":1,\"count\":3"));
            Same("\"done\"", driver.Ask("rest", ",\"checkpoint\":true"));
        }
    }

    static void WhatABlockWritesIsThereForAnotherProcess(string spec) {
        Built(spec);
        using (var driver = new Conversation(spec)) {
            string measured = driver.Block("mix", "2", 1, Step(Read, 3, 5), Step(Overwrite, 1, "ON'!"), Step(Read, 1, 4),
                Step(Modify, 2, "TWO"), Step(Insert, 4, "four"), Step(Insert, 9, "nine"), Step(Delete, 9, 4),
                Step(Insert, 7, "seven"), Step(Delete, 3, 5), Step(Scan, 1, 4));
            Holds(measured, "\"wall_ns\"");
            Same("36", new FileInfo(work + "/latencies").Length.ToString());
            Same("\"done\"", driver.Ask("rest", ",\"checkpoint\":true"));
        }
        using (var driver = new Conversation(spec)) Same("ON'! TWO - four seven -", driver.Values(1, 2, 3, 4, 7, 9));
    }

    static void AValueThatIsMissingOrOfAnotherSizeFailsTheBlock(string spec) {
        Built(spec);
        using (var driver = new Conversation(spec))
            Holds(driver.Block("read", "1", 0, Step(Read, 1, 3), Step(Read, 7, 3)), "the value of key 7 is missing");
        using (var driver = new Conversation(spec))
            Holds(driver.Block("read", "\"all\"", 0, Step(Read, 1, 2)), "the value of key 1 has 3 bytes, not 2");
        using (var driver = new Conversation(spec))
            Holds(driver.Block("delete", "1", 0, Step(Delete, 7, 1)), "the value of key 7 is missing");
    }

    static void TheTableThatIsMadeAnewHoldsNothing(string spec) {
        Built(spec);
        using (var driver = new Conversation(spec)) {
            Holds(driver.Block("create-table", "1", 0, Step(Read, 1, 3)), "\"wall_ns\"");
            Same("- -", driver.Values(1, 2));
        }
    }

    static void APlaceWithoutAStoreIsAFailureInWords(string spec) {
        using (var driver = new Conversation(spec))
            Holds(driver.Ask("load", ",\"dataset\":\"/\",\"first\":1,\"count\":1"), "there is no database");
        if (Directory.Exists(work + "/store")) throw new Exception("the place was made");
    }

    static void WhatIsNoTextIsRefusedAsText(string spec) {
        Built(spec);
        using (var driver = new Conversation(spec))
            Holds(driver.Block("overwrite", "1", 0, Step(Overwrite, 1, "\u00ff")), "use column_type=blob");
    }

    static void WhatKeepsNothingIsReadWhereNothingWasMade(string spec) {
        using (var driver = new Conversation(spec))
            Holds(driver.Block("read", "\"all\"", 1, Step(Read, 1, 3), Step(Read, 7, 0)), "\"wall_ns\"");
    }

    static void SeveralRowsOfAStatementAreRefusedInWords(string spec) {
        Built(spec);
        using (var driver = new Conversation(spec))
            Holds(driver.Block("insert", "1,\"rows_per_statement\":10", 0, Step(Insert, 7, "seven")), "a statement inserts one row");
    }

    static void AStoreOrATaskThatIsNotKnownIsRefusedByItsName(string spec) {
        using (var driver = new Conversation("sqlight:journal=wal")) Holds(driver.Ask("create"), "this driver has no store 'sqlight'");
        using (var driver = new Conversation(spec)) Holds(driver.Ask("polish"), "the task 'polish' is not known");
    }

    static void TheGreetingSaysTheVersionOfMono(string spec) {
        using (var driver = new Conversation(spec)) Holds(driver.Greeting, "\"Mono " + MonoVersion());
    }

    static string MonoVersion() {
        var mono = Process.Start(new ProcessStartInfo("mono", "--version=number") { UseShellExecute = false, RedirectStandardOutput = true });
        return mono.StandardOutput.ReadLine().Trim();
    }

    static void AProviderThatIsNotHereIsRefused(string spec) {
        foreach (string provider in new[] { "Microsoft.Data.Sqlite", "System.Data.SqlServerCe.4.0" })
            using (var driver = new Conversation(spec.Replace("Mono.Data.Sqlite", provider)))
                Holds(driver.Ask("describe"), "\"refused\": \"there is no ADO.NET provider '" + provider + "' here");
    }

    static void Run(Action<string> test, params string[] specs) {
        foreach (string spec in specs) {
            work = Path.Combine(Path.GetTempPath(), "stowplan-csharp-test-" + Process.GetCurrentProcess().Id);
            Directory.CreateDirectory(work);
            try {
                test(spec);
                Console.WriteLine("ok      " + test.Method.Name + " (" + spec.Split(':')[0] + ")");
            } catch (Exception error) {
                failed++;
                Console.WriteLine("FAILED  " + test.Method.Name + " (" + spec + ")\n    " + error.Message);
            } finally {
                Directory.Delete(work, true);
            }
        }
    }

    static int Main(string[] arguments) {
        driver = arguments[0];
        Run(WhatABlockWritesIsThereForAnotherProcess, Specs);
        Run(AValueThatIsMissingOrOfAnotherSizeFailsTheBlock, Specs);
        Run(TheTableThatIsMadeAnewHoldsNothing, Specs);
        Run(APlaceWithoutAStoreIsAFailureInWords, Seed, Sqlite);
        Run(WhatIsNoTextIsRefusedAsText, Seed);
        Run(WhatKeepsNothingIsReadWhereNothingWasMade, "null:warm_up=20");
        Run(SeveralRowsOfAStatementAreRefusedInWords, Sqlite);
        Run(AStoreOrATaskThatIsNotKnownIsRefusedByItsName, "null:warm_up=0");
        Run(TheGreetingSaysTheVersionOfMono, Sqlite);
        Run(AProviderThatIsNotHereIsRefused, Seed);
        return failed == 0 ? 0 : 1;
    }
}
