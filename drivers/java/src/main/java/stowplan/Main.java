package stowplan;

/** The driver with its stores; a new one gets a word here. */
final class Main {
    public static void main(String[] arguments) {
        new Driver().converse(Sqlite.KIND, MvStore.KIND, MapDb.KIND, Null.KIND);
    }
}
