//! `Branch`: the SQL that finds the records of one value of the part that leads.

/// One value of the part that leads.
pub(super) struct Branch {
    /// The columns of the index before `seq`, and what they must be.
    pub(super) columns: Vec<String>,
    pub(super) is: Vec<String>,
    /// What the index is restricted to.
    pub(super) partial: &'static str,
    pub(super) is_term: bool,
}

impl Branch {
    /// Comparing the columns and the place together leaves the planner one index that has this order.
    pub(super) fn select(
        &self,
        conditions: &str,
        days: &str,
        (from, before, most): (usize, usize, usize),
    ) -> String {
        let table = if self.is_term { "f" } else { "a" };
        let mut columns = self.columns.clone();
        columns.push(format!("{table}.seq"));
        let order = columns.iter().map(|column| format!("{column} DESC"));
        let order = order.collect::<Vec<_>>().join(", ");
        let row = format!("ROW({})", columns.join(", "));
        let bound = |at: usize| {
            let mut values = self.is.clone();
            values.push(format!("${at}::bigint"));
            format!("ROW({})", values.join(", "))
        };
        let (low, high) = (bound(from), bound(before));
        let tables = if self.is_term {
            format!(
                "found f JOIN activity a ON a.day = f.day AND a.seq = f.seq AND f.day IN ({days})"
            )
        } else {
            "activity a".to_owned()
        };
        format!(
            "(SELECT a.day, a.seq FROM {tables} WHERE a.day IN ({days}) AND {row} < {high} AND {row} >= {low} AND {}{conditions} ORDER BY {order} LIMIT ${most}::bigint)",
            self.partial
        )
    }
}
