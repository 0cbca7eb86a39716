/// <summary>The driver with its stores; a new one gets a word here.</summary>
static class Program {
    static void Main() { new Driver().Converse(new AdoKind(), new SqliteKind(), new NullKind()); }
}
