using System;
using System.Diagnostics;
using System.IO;
using System.Linq;

/// <summary>What the program answers to lines that it is given at once; "stowplan drivers check" tries the rest.</summary>
static class DriverTest {
    const string Ado = "ado:provider=Mono.Data.Sqlite,connection=Data Source={file},statement=each,ids=assigned,column_type=text,warm_up=0";
    static readonly string Work = Path.Combine(Path.GetTempPath(), "stowplan-csharp-test-" + Process.GetCurrentProcess().Id);

    static string Run(string program, string arguments, params string[] lines) {
        var process = Process.Start(new ProcessStartInfo(program, arguments) {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true,
        });
        foreach (string line in lines) process.StandardInput.WriteLine(line);
        process.StandardInput.Close();
        return process.StandardOutput.ReadToEnd();
    }

    /// <summary>Whether what is said to tasks of a store, each a name and more fields, holds these words.</summary>
    static bool Says(string driver, string words, string spec, params string[] tasks) {
        string at = "\"store\":\"" + spec + "\",\"place\":\"" + Work + "/store\"";
        string told = Run("mono", driver, tasks.Select(task => "{\"" + task.Split('|')[0] + "\":{" + at + task.Split('|').ElementAtOrDefault(1) + "}}").ToArray());
        if (!told.Contains(words)) Console.WriteLine("FAILED  '" + words + "' is not in " + told);
        return told.Contains(words);
    }

    static int Main(string[] arguments) {
        Directory.CreateDirectory(Work + "/store");
        File.WriteAllBytes(Work + "/values.bin", new byte[] { 255 });
        File.WriteAllBytes(Work + "/index.bin", new long[] { 0, 1 }.SelectMany(BitConverter.GetBytes).ToArray());
        File.WriteAllBytes(Work + "/sequence", "STOWSEQ1\x1\0\0\0\0\0\0\0\x1".PadRight(32, '\0').Select(letter => (byte)letter).ToArray());
        string load = "load|,\"dataset\":\"" + Work + "\",\"first\":1,\"count\":1", driver = arguments[0];
        string run = "run|,\"workload\":{\"operation\":\"insert\",\"per_transaction\":1,\"rows_per_statement\":10},\"threads\":[{\"sequence\":\"" + Work
            + "/sequence\",\"first\":0,\"lead_in\":0,\"operations\":1}]";
        string provider = "Microsoft.Data.Sqlite";
        bool[] outcomes = {
            Says(driver, "\"Mono " + Run("mono", "--version=number").Trim(), "null:warm_up=0"),
            Says(driver, "use column_type=blob", Ado, "create", load),
            Says(driver, "\"refused\": \"there is no ADO.NET provider '" + provider + "' here", Ado.Replace("Mono.Data.Sqlite", provider), "describe"),
            Says(driver, "a statement inserts one row", "null:warm_up=0", run),
            Says(driver, "this driver has no store 'sqlight'", "sqlight:journal=wal", "create"),
            Says(driver, "the task 'polish' is not known", "null:warm_up=0", "polish"),
        };
        Directory.Delete(Work, true);
        Console.WriteLine(outcomes.Count(held => held) + " of " + outcomes.Length + " hold");
        return outcomes.All(held => held) ? 0 : 1;
    }
}
