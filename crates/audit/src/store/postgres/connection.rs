//! `Connection`: one connection to PostgreSQL for one thread. Every call blocks, under a deadline.
//!
//! It has a runtime of its own that runs only inside a call, so a connection costs nothing while it is idle, and a caller
//! needs no runtime.

use std::collections::HashMap;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, RowStream, Statement};

use super::address::Address;
use super::error::PostgresError;

/// Prepared statements kept. Filters make many; the oldest need not be found, so all go at once.
const MAX_STATEMENTS: usize = 128;
const SEARCH_PATH: &str = "SET search_path = countersign, pg_catalog";

/// Values of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// One connection.
pub(super) struct Connection {
    /// Taken when it is dropped: a runtime may not end where another one runs.
    runtime: Option<Runtime>,
    client: Client,
    statements: HashMap<String, Statement>,
    deadline: Duration,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    /// Connects and runs `settings`, each of which ends with a semicolon.
    pub(super) fn open(
        address: &Address,
        settings: &str,
        deadline: Duration,
    ) -> Result<Self, PostgresError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(PostgresError::Runtime)?;
        let client = within(&runtime, deadline, connect(address))?;
        let mut connection = Self {
            runtime: Some(runtime),
            client,
            statements: HashMap::new(),
            deadline,
        };
        connection.run(&format!("{SEARCH_PATH}; {settings}"))?;
        Ok(connection)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements without values.
    pub(super) fn run(&mut self, sql: &str) -> Result<(), PostgresError> {
        self.wait(|client| async move { client.batch_execute(sql).await })
    }

    /// All rows of an answer that is known to be small.
    pub(super) fn query(
        &mut self,
        sql: &str,
        values: Values<'_>,
    ) -> Result<Vec<Row>, PostgresError> {
        let statement = self.prepare(sql)?;
        self.wait(|client| async move { client.query(&statement, values).await })
    }

    /// The first row, if there is one.
    pub(super) fn first(
        &mut self,
        sql: &str,
        values: Values<'_>,
    ) -> Result<Option<Row>, PostgresError> {
        Ok(self.query(sql, values)?.into_iter().next())
    }

    /// Runs a statement and says how many rows it changed.
    pub(super) fn execute(&mut self, sql: &str, values: Values<'_>) -> Result<u64, PostgresError> {
        let statement = self.prepare(sql)?;
        self.wait(|client| async move { client.execute(&statement, values).await })
    }

    /// Hands out the rows one by one as they arrive, for as long as `each` says so. The rest is thrown away.
    pub(super) fn for_each(
        &mut self,
        sql: &str,
        values: Values<'_>,
        mut each: impl FnMut(&Row) -> Result<bool, PostgresError>,
    ) -> Result<(), PostgresError> {
        let statement = self.prepare(sql)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.to_vec();
        let rows = self.wait(|client| async move { client.query_raw(&statement, values).await })?;
        let mut rows = Box::pin(rows);
        while let Some(row) = self.wait(|_| next_row(&mut rows))? {
            if !each(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs `work` in a transaction, which is undone if it fails. `begin` says what kind.
    pub(super) fn transaction<T, E: From<PostgresError>>(
        &mut self,
        begin: &str,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run(begin)?;
        let result = work(self);
        // If it cannot be undone it ends with the connection, which no caller uses again after a failure.
        let end = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.run(end);
        result.and_then(|value| ended.map(|()| value).map_err(E::from))
    }

    fn prepare(&mut self, sql: &str) -> Result<Statement, PostgresError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        if self.statements.len() >= MAX_STATEMENTS {
            self.statements.clear();
        }
        let statement = self.wait(|client| async move { client.prepare(sql).await })?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn wait<'a, T, F>(&'a self, work: impl FnOnce(&'a Client) -> F) -> Result<T, PostgresError>
    where
        F: Future<Output = Result<T, tokio_postgres::Error>>,
    {
        let Some(runtime) = &self.runtime else {
            return Err(PostgresError::Value("no runtime"));
        };
        within(runtime, self.deadline, async {
            work(&self.client).await.map_err(PostgresError::from)
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn within<T>(
    runtime: &Runtime,
    deadline: Duration,
    work: impl Future<Output = Result<T, PostgresError>>,
) -> Result<T, PostgresError> {
    let answered = runtime.block_on(async { tokio::time::timeout(deadline, work).await });
    answered.unwrap_or(Err(PostgresError::Timeout(deadline)))
}

async fn connect(address: &Address) -> Result<Client, PostgresError> {
    let config = address.config();
    if let Some(connector) = address.connector() {
        let (client, connection) = config.connect(connector.clone()).await?;
        tokio::spawn(connection);
        return Ok(client);
    }
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

async fn next_row(
    rows: &mut std::pin::Pin<Box<RowStream>>,
) -> Result<Option<Row>, tokio_postgres::Error> {
    use std::future::poll_fn;
    let row = poll_fn(|context| futures_core::Stream::poll_next(rows.as_mut(), context)).await;
    row.transpose()
}
