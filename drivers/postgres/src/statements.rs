//! What is asked of a server, as statements.

use crate::options::Form;

/// What is asked of the server.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    Read,
    Insert,
    Overwrite,
    Delete,
    Scan,
}

impl Asked {
    pub(crate) const ALL: [Self; 5] = [
        Self::Read,
        Self::Insert,
        Self::Overwrite,
        Self::Delete,
        Self::Scan,
    ];

    /// Inserting a key that is there, or changing one that is not, changes no row: an error would end the
    /// transaction.
    pub(crate) fn sql(self, form: Form, table: &str) -> String {
        let (shown, kept) = match form {
            Form::Bytea => ("v", "$2::bytea"),
            Form::LargeObject => ("lo_get(v)", "lo_from_bytea(0, $2::bytea)"),
        };
        match (self, form) {
            (Self::Read, _) => format!("SELECT {shown} FROM {table} WHERE k = $1"),
            (Self::Scan, _) => {
                format!("SELECT k, {shown} FROM {table} WHERE k >= $1 ORDER BY k LIMIT $2")
            }
            (Self::Insert, Form::Bytea) => {
                format!("INSERT INTO {table} VALUES ($1, {kept}) ON CONFLICT DO NOTHING")
            }
            (Self::Insert, Form::LargeObject) => format!(
                "INSERT INTO {table} SELECT $1::bigint, {kept} \
                 WHERE NOT EXISTS (SELECT FROM {table} WHERE k = $1::bigint)"
            ),
            (Self::Overwrite, Form::Bytea) => {
                format!("UPDATE {table} SET v = {kept} WHERE k = $1")
            }
            (Self::Overwrite, Form::LargeObject) => format!(
                "WITH old AS (SELECT k, lo_unlink(v) FROM {table} WHERE k = $1 FOR UPDATE) \
                 UPDATE {table} t SET v = {kept} FROM old WHERE t.k = old.k"
            ),
            (Self::Delete, Form::Bytea) => format!("DELETE FROM {table} WHERE k = $1"),
            (Self::Delete, Form::LargeObject) => format!(
                "WITH gone AS (DELETE FROM {table} WHERE k = $1 RETURNING v) \
                 SELECT lo_unlink(v) FROM gone"
            ),
        }
    }
}
