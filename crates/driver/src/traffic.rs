//! What went over the network within a timed window.

use crate::platform;
use stowplan_model::{NETWORK_RECEIVED, NETWORK_SENT};
use stowplan_stores::Counters;

/// A reading, of the connections of the whole process, without what the network adds.
pub(crate) struct Traffic(Option<(u64, u64)>);

impl Traffic {
    pub(crate) fn now() -> Self {
        Self(platform::tcp_bytes())
    }

    /// What came since; nothing where there is no connection.
    pub(crate) fn since(&self) -> Counters {
        let both = self.0.zip(platform::tcp_bytes());
        let Some(((sent, received), now)) = both else {
            return Counters::new();
        };
        Counters::from([
            (NETWORK_SENT.to_owned(), now.0.saturating_sub(sent)),
            (NETWORK_RECEIVED.to_owned(), now.1.saturating_sub(received)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn bytes_of_connections_are_counted_in_either_direction() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let before = Traffic::now();
        client.write_all(&[1; 5_000]).unwrap();
        server.read_exact(&mut [0; 5_000]).unwrap();
        server.write_all(&[1; 300]).unwrap();
        client.read_exact(&mut [0; 300]).unwrap();
        // Both ends are this process's; the last acknowledgement may be on its way.
        let since = before.since();
        assert_eq!(since[NETWORK_RECEIVED], 5_300);
        assert!((5_000..=5_300).contains(&since[NETWORK_SENT]), "{since:?}");
    }
}
