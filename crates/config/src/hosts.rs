//! Lists of hosts: names with or without a port, in lower case.

use super::reader::Reader;

/// Names of hosts, in lower case.
pub(crate) fn read_hosts(reader: &mut Reader<'_, '_>, node: u32, hosts: &mut Vec<String>) {
    let elements: Vec<_> = reader.tape().children(node).collect();
    for element in elements {
        let host = reader.text(element);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if host.is_empty() || !host.chars().all(is_plain) {
            let hint = "write a name with or without a port, like \"tools.example.com\"; there is no wildcard";
            reader.refuse(element, "not a host name", hint);
        }
        hosts.push(host.to_ascii_lowercase());
    }
}
